import { agentIssues } from '../../shared/agent-issues.ts'
import { issuesOf } from '../../shared/api/zod-issues.ts'
import { Fault } from '../../shared/errors.ts'
import { ResearchSettingsSchema } from '../../shared/research-settings.ts'
import type { Settings } from '../../shared/settings.ts'

/**
 * The settings with the CDK context's model of the research chain (`sluice:research`) over the file's; its provider is one
 * of the file's. Fault InvalidInput bad_settings names each wrong value and what is allowed.
 */
export function withContextResearch(
  settings: Settings,
  given: Readonly<Record<string, unknown>> | undefined,
): Settings {
  if (given === undefined) return settings
  const asked = { ...settings.research, ...given }
  const parsed = ResearchSettingsSchema.safeParse(asked)
  const shape = parsed.success ? [] : issuesOf(parsed.error, ResearchSettingsSchema, asked)
  const issues = [
    ...shape,
    ...agentIssues({ providers: settings.providers, research: asked }).map((issue) => {
      return { ...issue, path: issue.path.replace('research.', '') }
    }),
  ]
  if (parsed.success && issues.length === 0) return { ...settings, research: parsed.data }
  const told = issues.map(({ path, message, hint }) => {
    return `"sluice:research" ${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  const message = `cdk.json: context ${told.join('; ')}. Set it under "context" in cdk.json, or pass -c sluice:research=JSON.`
  throw new Fault('InvalidInput', 'bad_settings', message, { issues })
}
