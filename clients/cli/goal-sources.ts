import { dirname, resolve } from 'node:path'
import type { EvidenceArtifact, EvidenceText } from '../../shared/goals/evidence.ts'
import { contractSource, kindOfFile } from '../../shared/goals/files/contract-file.ts'
import { readNotebook } from '../../shared/goals/files/notebook.ts'
import { readGoalContract } from '../../shared/goals/read-contract.ts'
import { artifactsBeside } from './artifacts-beside.ts'
import { readArtifacts } from './read-artifacts.ts'
import { readFile } from './read-file.ts'
import { Refused, usage } from './refused.ts'

/** What `goal evaluate` judges; undefined = there is no contract. */
export interface GoalSources {
  readonly contract: string | undefined
  readonly texts: readonly EvidenceText[]
  readonly artifacts: readonly EvidenceArtifact[]
}

export interface SourceOptions {
  readonly contract?: string
  readonly output?: string
  readonly artifacts?: readonly string[]
  readonly notebook?: string
}

/** From files a person names: a contract, a text and artifacts, or a notebook that brings them. */
export function goalSources(options: SourceOptions): GoalSources {
  const { contract, output, notebook } = options
  if (notebook !== undefined) return fromNotebook(notebook, options)
  if (output === undefined) {
    throw usage('Name the text with the markers: --output FILE, or --notebook FILE. Lines come with --ndjson.')
  }
  return {
    contract: contract === undefined ? undefined : readContractFile(contract),
    texts: [{ text: readFile(output, 'the text with the markers') }],
    artifacts: readArtifacts(options.artifacts ?? []),
  }
}

/** The contract of a notebook, Markdown file or YAML file; a run with a malformed one would be refused, and so is this. */
export function readContractFile(file: string, text = readFile(file, 'the goal contract')): string | undefined {
  const source = contractSource(file, text)
  if (!source.ok) throw unreadable(file, source.problem)
  if (source.contract === undefined) return undefined
  const read = readGoalContract(source.contract)
  if (read.ok) return source.contract
  const detail = `Cannot evaluate "${file}": the goal contract has errors.`
  throw new Refused({ code: 'goal_contract_invalid', detail, errors: read.errors }, { exitCode: 100 })
}

function fromNotebook(file: string, { contract, output, artifacts }: SourceOptions): GoalSources {
  if (contract !== undefined) throw usage('Give --notebook or --contract: a notebook brings its own contract.')
  const kind = kindOfFile(file)
  if (kind === 'yaml') throw usage(`Cannot use --notebook ${file}: a file .ipynb or .md is needed.`)
  const text = readFile(file, 'the notebook')
  const found = readContractFile(file, text)
  const texts = kind === 'notebook' ? printedIn(file, text, output) : [{ text: outputOf(file, output) }]
  return { contract: found, texts, artifacts: artifacts === undefined ? beside(file, found) : readArtifacts(artifacts) }
}

function printedIn(file: string, text: string, output: string | undefined): readonly EvidenceText[] {
  if (output !== undefined)
    throw usage('Give --notebook or --output: the evidence of a notebook is what its cells printed.')
  const read = readNotebook(text)
  if (!read.ok) throw unreadable(file, read.problem)
  return read.notebook.texts
}

function outputOf(file: string, output: string | undefined): string {
  if (output === undefined)
    throw usage(`Name the text with the markers, --output FILE: "${file}" has no cells that print.`)
  return readFile(output, 'the text with the markers')
}

/** Only what a criterion asks for is looked at. */
function beside(file: string, contract: string | undefined): readonly EvidenceArtifact[] {
  const read = contract === undefined ? undefined : readGoalContract(contract)
  if (read === undefined || !read.ok) return []
  const globs = read.contract.acceptance_criteria.flatMap(({ artifactPattern: glob }) =>
    typeof glob === 'string' ? [glob] : [],
  )
  return globs.length === 0 ? [] : artifactsBeside(dirname(resolve(file)), globs)
}

function unreadable(file: string, problem: string): Refused {
  const detail = `Cannot use "${file}": ${problem}.`
  return new Refused({ code: 'goal_contract_invalid', detail }, { exitCode: 100 })
}
