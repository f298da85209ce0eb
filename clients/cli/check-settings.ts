import type { DagError } from '../../shared/dag/report.ts'
import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'

interface CheckedSettings {
  readonly errors: readonly DagError[]
  /** Folders of documents. */
  readonly dags: readonly string[]
  /** Names an agent may use. */
  readonly providers: readonly string[]
}

/** Checks the text of a sluice.yaml; with errors, the folders and providers are the defaults. */
export function checkSettings(text: string): CheckedSettings {
  try {
    const { dags, providers } = parseSettings(text, 'sluice.yaml')
    return { errors: [], dags, providers: ['local', ...Object.keys(providers)] }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // Each issue stands in one file here: `file` says nothing new.
    const errors = error.issues.map(({ file: _, ...issue }) => ({ ...issue, code: error.code }))
    return { errors, dags: ['dags'], providers: ['local'] }
  }
}
