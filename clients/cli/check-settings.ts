import type { DagError } from '../../shared/dag/report.ts'
import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import { PLACE_PROVIDERS } from '../../shared/provider.ts'
import type { Routing } from '../../shared/settings.ts'
import type { TaskSettings } from '../../shared/tasks/bind-task-gates.ts'

export interface CheckedSettings {
  readonly errors: readonly DagError[]
  /** Folders of documents. */
  readonly dags: readonly string[]
  /** Names an agent may use. */
  readonly providers: readonly string[]
  /** Absent with errors: agents nobody could read are no reason to refuse a document. */
  readonly routing?: Routing
  /** Gates of tasks and who uses them; absent like agents. */
  readonly tasks?: TaskSettings
}

/** Checks the text of a sluice.yaml; with errors, the folders and providers are the defaults. */
export function checkSettings(text: string): CheckedSettings {
  try {
    const { dags, providers, agents, gates, pipelines, shell_gates, approvals } = parseSettings(text, 'sluice.yaml')
    const known = { routing: { providers, agents, shell_gates, approvals }, tasks: { gates, pipelines } }
    return { errors: [], dags, providers: [...PLACE_PROVIDERS, ...Object.keys(providers)], ...known }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // Each issue stands in one file here: `file` says nothing new.
    const errors = error.issues.map(({ file: _, ...issue }) => ({ ...issue, code: error.code }))
    return { errors, dags: ['dags'], providers: PLACE_PROVIDERS }
  }
}
