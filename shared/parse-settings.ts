import { agentIssues } from './agent-issues.ts'
import { issuesOf } from './api/zod-issues.ts'
import { lineFinder, locate, type Source } from './dag/source.ts'
import { readYaml } from './dag/yaml.ts'
import { Fault, type Issue } from './errors.ts'
import { priceIssues } from './price-at.ts'
import { FileSettingsSchema, type Settings, SettingsSchema } from './settings.ts'
import { taskGateIssues } from './tasks/task-gate-issues.ts'
import { tenantIssues } from './tenant-issues.ts'

/**
 * The settings a `sluice.yaml` holds, with the defaults filled in; a blank text is all defaults. Fault InvalidInput
 * bad_settings lists what is wrong, each with file, line, column, what was seen and what is allowed.
 */
export function parseSettings(text: string, file: string): Settings {
  if (isBlank(text)) return SettingsSchema.parse({})
  const source = readSource(text, file)
  const parsed = FileSettingsSchema.safeParse(source.value)
  const shape = parsed.success ? [] : issuesOf(parsed.error, FileSettingsSchema, source.value)
  const whole = parsed.success
    ? [...taskGateIssues(parsed.data), ...tenantIssues(parsed.data), ...priceIssues(parsed.data)]
    : []
  const issues = [...shape, ...agentIssues(source.value), ...whole]
  if (parsed.success && issues.length === 0) return parsed.data
  throw badSettings(
    file,
    issues.map((issue) => placed(issue, source, text, file)),
  )
}

function isBlank(text: string): boolean {
  return text.split(/\r\n|\n|\r/).every((line) => /^\s*(?:#.*)?$/.test(line.replace('\uFEFF', '')))
}

function readSource(text: string, file: string): Source {
  const read = readYaml(text)
  if (read.ok) return read.source
  const place = lineFinder(text)
  const issues = read.problems.map((problem): Issue => {
    const { text: message, hint } = problem.say({ who: 'the file', place: problem.path.join('.') || 'the file' })
    const path = problem.path.join('.')
    return { path, message, file, ...place(problem.at ?? 0), ...(hint === undefined ? {} : { hint }) }
  })
  throw badSettings(file, issues)
}

function placed(issue: Issue, source: Source, text: string, file: string): Issue {
  const path = issue.path === '' ? [] : issue.path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const seen = path.reduce<unknown>(
    (value, part) => (value as Record<string, unknown> | undefined)?.[part],
    source.value,
  )
  const shown = mayShow(issue.path) ? JSON.stringify(seen)?.slice(0, 100) : undefined
  const message = shown === undefined ? issue.message : `${issue.message} (seen: ${shown})`
  return { ...issue, message, file, ...lineFinder(text)(locate(source.spot, path, 'key')) }
}

/** A key that was pasted where its name belongs, or into a URL, must not be told again. */
function mayShow(path: string): boolean {
  if (/(key|token|secret|password)[^.]*$/i.test(path)) return false
  if (path.startsWith('webhooks.')) return /\.(name|tenant|events|dags|timeout_ms|give_up_sec)\b/.test(path)
  if (path.startsWith('telemetry')) return path === 'telemetry.otlp.capture_content'
  if (path.startsWith('slack.')) return /^slack\.(team_id|app_id|channel|tenant|users)\b/.test(path)
  return (
    !path.startsWith('providers.') ||
    /^providers\.[^.]+\.(type|timeout_ms|idle_ms|max_concurrency|breaker|models|region)\b/.test(path)
  )
}

function badSettings(file: string, issues: readonly Issue[]): Fault {
  const lines = issues.map(({ path, message, line, column, hint }) => {
    const at = line === undefined ? '' : `:${line}:${column}`
    return `${file}${at}: ${path === '' ? '' : `${path}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  return new Fault('InvalidInput', 'bad_settings', `Cannot use the settings. ${lines.join('; ')}.`, { issues })
}
