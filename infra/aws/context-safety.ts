import { issuesOf } from '../../shared/api/zod-issues.ts'
import { Fault } from '../../shared/errors.ts'
import { SafetySchema, type Settings } from '../../shared/settings.ts'

/**
 * The settings with the safety values of the CDK context (`sluice:safety`) over those of the file; it is noted which
 * they are, for GET /api/dag/safety. Fault InvalidInput bad_settings names each wrong one and what is allowed.
 */
export function withContextSafety(settings: Settings, given: Readonly<Record<string, unknown>> | undefined): Settings {
  if (given === undefined) return settings
  const parsed = SafetySchema.safeParse({ ...settings.safety, ...given })
  if (parsed.success) return { ...settings, safety: parsed.data, safety_context: Object.keys(given) }
  const issues = issuesOf(parsed.error, SafetySchema, given)
  const told = issues.map(({ path, message, hint }) => {
    return `"sluice:safety" ${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  const message = `cdk.json: context ${told.join('; ')}. Set it under "context" in cdk.json, or pass -c sluice:safety=JSON.`
  throw new Fault('InvalidInput', 'bad_settings', message, { issues })
}
