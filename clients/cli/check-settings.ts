import { issuesOf } from '../../shared/api/zod-issues.ts'
import type { DagError } from '../../shared/dag/report.ts'
import { lineFinder, locate, type Path, type Source } from '../../shared/dag/source.ts'
import { readYaml } from '../../shared/dag/yaml.ts'
import { SettingsSchema } from '../../shared/settings.ts'

interface CheckedSettings {
  readonly errors: readonly DagError[]
  /** Folders of documents. */
  readonly dags: readonly string[]
  /** Names an agent may use. */
  readonly providers: readonly string[]
}

/** Checks the text of a sluice.yaml; with errors, the folders and providers are the defaults. */
export function checkSettings(text: string): CheckedSettings {
  const read = readYaml(text)
  if (!read.ok) {
    const place = lineFinder(text)
    const who = { who: 'sluice.yaml', place: 'the file' }
    const errors = read.problems.map(({ code, at, say }) => ({
      code,
      path: '',
      ...place(at ?? 0),
      message: say(who).text,
    }))
    return { errors, ...DEFAULTS }
  }
  const parsed = SettingsSchema.safeParse(read.source.value)
  if (!parsed.success) {
    return { errors: issuesOf(parsed.error, SettingsSchema).map((issue) => placed(issue, read.source)), ...DEFAULTS }
  }
  const { dags, providers } = parsed.data
  return { errors: [], dags, providers: ['local', ...Object.keys(providers)] }
}

const DEFAULTS = { dags: ['dags'], providers: ['local'] } as const

function placed(issue: { path: string; message: string; hint?: string }, { spot, text }: Source): DagError {
  const path: Path =
    issue.path === '' ? [] : issue.path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const at = lineFinder(text ?? '')(locate(spot, path, 'key'))
  return { code: 'bad_settings', ...issue, ...at }
}
