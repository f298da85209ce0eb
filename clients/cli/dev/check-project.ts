import { basename } from 'node:path'
import { stepsNamed } from '../../../shared/document/parse.ts'
import type { ProjectProblem } from '../../../shared/ports/health.ts'
import type { KnownSteps } from '../../../shared/steps/described-step.ts'
import type { DagError } from '../../../shared/text/document-problems.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { readYaml } from '../../../shared/text/yaml.ts'
import { type CheckedFile, checkFile, filesToCheck, stepsOfFiles } from '../documents/document-files.ts'
import { projectGates } from '../documents/project-gates.ts'
import { readFileIfAny } from '../terminal/files.ts'
import { Refused, withoutDocumentName } from '../terminal/refused.ts'
import { oneLine } from '../terminal/text.ts'

/** The settings and documents of the working folder, as their files and those they name are now. */
export interface CheckedProject {
  readonly files: readonly CheckedProjectFile[]
  readonly problems: readonly ProjectProblem[]
  readonly documents: readonly ProjectDocument[]
}

interface CheckedProjectFile {
  readonly file: string
  readonly problems: readonly ProjectProblem[]
  readonly warnings: readonly string[]
  /** Block ids; of the settings none. */
  readonly order: readonly string[]
}

interface ProjectDocument {
  /** What runs of it are called. */
  readonly name: string
  readonly text: string
  readonly valid: boolean
  /** Another one where its text, or the code of a step or gate it names, is another. */
  readonly version: string
}

export const SETTINGS_FILE = 'sluice.yaml'

/** What `sluice validate` says of each, whatever is wrong with the others; never throws for a file. */
export function checkProject(): CheckedProject {
  const files = filesToCheck()
  const steps = knownSteps(files)
  const checked = files.map((file) => checkOne(file, steps))
  const documents = files.filter((file) => basename(file) !== SETTINGS_FILE)
  return {
    files: checked,
    problems: checked.flatMap(({ problems }) => problems),
    documents: documents.map((file) => documentOf(file, steps, checked)),
  }
}

/** Of a project whose code cannot be loaded at all each document tells it by itself. */
function knownSteps(files: readonly string[]): KnownSteps | undefined {
  try {
    return stepsOfFiles(files)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return undefined
  }
}

function checkOne(file: string, steps: KnownSteps | undefined): CheckedProjectFile {
  try {
    const { errors, warnings, order }: CheckedFile = checkFile(file, steps)
    const told = warnings.map(({ path, code, message }) => `${file}  warning  ${path}  ${code}  ${message}`)
    return { file, problems: errors.map((error) => problemOf(file, error)), warnings: told, order }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { code, detail } = error.reason
    return { file, problems: [{ file, code, message: detail }], warnings: [], order: [] }
  }
}

function problemOf(file: string, { line, column, path, code, message, hint }: DagError): ProjectProblem {
  const words = withoutDocumentName(message)
  const whole = hint === undefined || words.includes(hint) ? words : `${words} (${hint})`
  const at = line === undefined ? {} : { line, column: column ?? 1 }
  return { file, ...at, code, message: line === undefined && path !== '' ? `${path}: ${whole}` : whole }
}

function documentOf(
  file: string,
  steps: KnownSteps | undefined,
  checked: readonly CheckedProjectFile[],
): ProjectDocument {
  const text = readFileIfAny(file, 'file') ?? ''
  const valid = checked.some((one) => one.file === file && one.problems.length === 0)
  return { name: nameOf(file, text), text, valid, version: valid ? versionOf(text, steps) : '' }
}

function nameOf(file: string, text: string): string {
  const read = readYaml(text)
  const value: unknown = read.ok ? read.source.value : undefined
  const named = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof named === 'string' ? named : basename(file).replace(/\.ya?ml$/, '')
}

function versionOf(text: string, steps: KnownSteps = {}): string {
  const code = stepsNamed(text).map((name) => {
    const step = steps[name]
    return [name, step === undefined || 'problem' in step ? '' : step.hash]
  })
  const gates = [...projectGates(text).modules].map(([path, found]) => [path, found.ok ? found.hash : ''])
  return sha256(canonicalJson({ text, code, gates }))
}

/** `dags/hello.yaml:7:12  unknown_output  ..`: editors and terminals open it at a click. */
export function problemLine({ file, line, column, code, message }: ProjectProblem): string {
  const at = line === undefined ? file : `${file}:${line}:${column ?? 1}`
  return `${at}  ${code}  ${oneLine(message)}`
}
