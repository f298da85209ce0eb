import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseDag } from '../../../shared/document/parse.ts'
import { dagTaskIssues } from '../../../shared/document/task-gates.ts'
import type { DagWarning } from '../../../shared/document/warnings.ts'
import { PLACE_PROVIDERS } from '../../../shared/providers/provider.ts'
import type { DagError } from '../../../shared/text/document-problems.ts'
import { readFile, readFileIfAny } from '../terminal/files.ts'
import { type CheckedSettings, checkSettings } from './settings-file.ts'

export interface CheckedFile {
  readonly file: string
  readonly valid: boolean
  readonly errors: readonly DagError[]
  /** What a valid document will suffer from when it runs. */
  readonly warnings: readonly DagWarning[]
  /** Block ids in an order that respects every edge; empty for sluice.yaml and for documents with errors. */
  readonly order: readonly string[]
}

const SETTINGS = 'sluice.yaml'

/** What `sluice validate` checks when no file is named: the settings and every document of their folders. */
export function filesToCheck(): readonly string[] {
  const text = readFileIfAny(SETTINGS, 'settings')
  const { dags } = text === undefined ? { dags: ['dags'] } : checkSettings(text)
  return [...(text === undefined ? [] : [SETTINGS]), ...dags.flatMap(documentsIn)]
}

/** A file called sluice.yaml is settings, every other one a DAG document, whose providers and agents sluice.yaml here names. */
export function checkFile(file: string): CheckedFile {
  const text = readFile(file, 'file')
  if (basename(file) === SETTINGS) {
    const { errors } = checkSettings(text)
    return { file, valid: errors.length === 0, errors, warnings: [], order: [] }
  }
  const { tasks, ...place } = knownPlace()
  const parsed = parseDag(text, { name: basename(file).replace(/\.ya?ml$/, ''), ...place })
  if (!parsed.ok) return { file, valid: false, errors: parsed.errors, warnings: [], order: [] }
  const errors = tasks === undefined ? [] : dagTaskIssues(parsed.dag, tasks)
  if (errors.length > 0) return { file, valid: false, errors, warnings: [], order: [] }
  return { file, valid: true, errors: [], warnings: parsed.warnings, order: parsed.order }
}

/** Names that `agent.provider` may have here, sluice.yaml's and those every place has, and the services it names. */
export function knownNames(): Pick<CheckedSettings, 'providers' | 'services'> {
  const { providers, services } = knownPlace()
  return { providers, ...(services && { services }) }
}

/** Without a sluice.yaml nothing is known of agents and commands: only the document is judged. A service is named there or nowhere. */
function knownPlace(): Pick<CheckedSettings, 'providers' | 'services' | 'routing' | 'tasks'> {
  const text = readFileIfAny(SETTINGS, 'settings')
  if (text === undefined) return { providers: PLACE_PROVIDERS, services: {} }
  const { providers, services, routing, tasks } = checkSettings(text)
  return { providers, ...(services && { services }), ...(routing && { routing }), ...(tasks && { tasks }) }
}

function documentsIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
    return names.sort().map((name) => join(folder, name))
  } catch {
    return []
  }
}
