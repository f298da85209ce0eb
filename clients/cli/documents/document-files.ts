import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type ParseResult, parseDag } from '../../../shared/document/parse.ts'
import { dagTaskIssues } from '../../../shared/document/task-gates.ts'
import type { DagWarning } from '../../../shared/document/warnings.ts'
import { PLACE_PROVIDERS } from '../../../shared/providers/provider.ts'
import type { KnownSteps } from '../../../shared/steps/described-step.ts'
import type { DagError } from '../../../shared/text/document-problems.ts'
import { readFile, readFileIfAny } from '../terminal/files.ts'
import { projectGates } from './project-gates.ts'
import { stepsOf } from './project-steps.ts'
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

/** A file called sluice.yaml is settings, every other one a DAG document, whose providers, agents and steps this folder has. */
export function checkFile(file: string, known?: KnownSteps): CheckedFile {
  const text = readFile(file, 'file')
  if (basename(file) === SETTINGS) {
    const { errors } = checkSettings(text, projectGates(text))
    return { file, valid: errors.length === 0, errors, warnings: [], order: [] }
  }
  const { tasks, work, ...place } = knownPlace()
  const steps = known ?? stepsOf([text], work)
  const project = projectGates(text, readFileIfAny(SETTINGS, 'settings') ?? '')
  const parsed = parseDag(text, { name: documentName(file), ...place, steps, project })
  if (!parsed.ok) return { file, valid: false, errors: parsed.errors, warnings: [], order: [] }
  const errors = tasks === undefined ? [] : dagTaskIssues(parsed.dag, tasks, project)
  if (errors.length > 0) return { file, valid: false, errors, warnings: [], order: [] }
  return { file, valid: true, errors: [], warnings: parsed.warnings, order: parsed.order }
}

/** What its runs are started by. */
export function documentName(file: string): string {
  return basename(file).replace(/\.ya?ml$/, '')
}

/** What the folder has of the steps that these files name, asked at once; a file that cannot be read names none. */
export function stepsOfFiles(files: readonly string[]): KnownSteps {
  const texts = files.filter((file) => basename(file) !== SETTINGS).map((file) => readFileIfAny(file, 'file') ?? '')
  return stepsOf(texts, knownPlace().work)
}

/** Parses a document with the providers, services, steps and gates of this folder: those every place has, sluice.yaml's, and its files. */
export function parseHere(
  text: string | object,
  { name, steps }: { readonly name?: string; readonly steps?: KnownSteps } = {},
): ParseResult {
  const { providers, services, work } = knownPlace()
  const code = { steps: steps ?? stepsOf([text], work), project: projectGates(text) }
  const known = { providers, ...(services && { services }), ...code }
  return parseDag(text, { ...known, ...(name !== undefined && name !== '' && { name }) })
}

/** Without a sluice.yaml nothing is known of agents and commands: only the document is judged. A service is named there or nowhere. */
function knownPlace(): Pick<CheckedSettings, 'providers' | 'services' | 'work' | 'routing' | 'tasks'> {
  const text = readFileIfAny(SETTINGS, 'settings')
  if (text === undefined) return { providers: PLACE_PROVIDERS, services: {}, work: NO_WORK }
  const { providers, services, work, routing, tasks } = checkSettings(text)
  const of = { ...(services && { services }), ...(work && { work }), ...(routing && { routing }) }
  return { providers, ...of, ...(tasks && { tasks }) }
}

/** Of a folder without settings. */
const NO_WORK = { steps: {}, programs: {}, functions: {}, integrations: {}, containers: {} }

function documentsIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
    return names.sort().map((name) => join(folder, name))
  } catch {
    return []
  }
}
