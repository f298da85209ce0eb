import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { EvidenceArtifact, EvidenceText } from '../../../shared/goals/evidence.ts'
import { contractSource, kindOfFile } from '../../../shared/goals/files/contract-file.ts'
import { readNotebook } from '../../../shared/goals/files/notebook.ts'
import { fitsGlob } from '../../../shared/goals/glob.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { readFile } from '../terminal/files.ts'
import { Refused, usageError } from '../terminal/refused.ts'

/** What `goal evaluate` judges; undefined = there is no contract. */
interface GoalSources {
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
    throw usageError('Name the text with the markers: --output FILE, or --notebook FILE. Lines come with --ndjson.')
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
  if (contract !== undefined) throw usageError('Give --notebook or --contract: a notebook brings its own contract.')
  const kind = kindOfFile(file)
  if (kind === 'yaml') throw usageError(`Cannot use --notebook ${file}: a file .ipynb or .md is needed.`)
  const text = readFile(file, 'the notebook')
  const found = readContractFile(file, text)
  const texts = kind === 'notebook' ? printedIn(file, text, output) : [{ text: outputOf(file, output) }]
  return { contract: found, texts, artifacts: artifacts === undefined ? beside(file, found) : readArtifacts(artifacts) }
}

function printedIn(file: string, text: string, output: string | undefined): readonly EvidenceText[] {
  if (output !== undefined)
    throw usageError('Give --notebook or --output: the evidence of a notebook is what its cells printed.')
  const read = readNotebook(text)
  if (!read.ok) throw unreadable(file, read.problem)
  return read.notebook.texts
}

function outputOf(file: string, output: string | undefined): string {
  if (output === undefined)
    throw usageError(`Name the text with the markers, --output FILE: "${file}" has no cells that print.`)
  return readFile(output, 'the text with the markers')
}

/** Only what a criterion asks for is looked at. */
function beside(file: string, contract: string | undefined): readonly EvidenceArtifact[] {
  const read = contract === undefined ? undefined : readGoalContract(contract)
  if (read === undefined || !read.ok) return []
  const globs = read.contract.acceptance_criteria.flatMap(({ artifactPattern: glob }) =>
    typeof glob === 'string' ? [glob] : [],
  )
  return globs.length === 0 ? [] : findArtifacts(dirname(resolve(file)), globs)
}

function unreadable(file: string, problem: string): Refused {
  const detail = `Cannot use "${file}": ${problem}.`
  return new Refused({ code: 'goal_contract_invalid', detail }, { exitCode: 100 })
}

/** Files a person says a run has written, looked at; one that is not there ends the command with exit code 2. */
function readArtifacts(paths: readonly string[]): readonly EvidenceArtifact[] {
  return paths.map((path) => {
    try {
      const body = readFileSync(path)
      return { name: path, bytes: body.byteLength, sha256: sha256(body) }
    } catch (cause) {
      const detail = `Cannot read the artifact "${path}": ${cause instanceof Error ? cause.message : cause}. Only what is there is evidence.`
      throw new Refused({ code: 'unreadable_file', detail }, { exitCode: 2, cause })
    }
  })
}

/** More files than somebody keeps beside a notebook: it lies in a folder of another kind. */
const MOST_FILES = 20_000

/**
 * Files in a folder and below that fit a glob, by their path from there, looked at. Hidden files and folders,
 * node_modules and links are passed over: what a notebook wrote lies open beside it.
 */
function findArtifacts(folder: string, globs: readonly string[]): readonly EvidenceArtifact[] {
  const paths = [...filesBelow(folder, '', { left: MOST_FILES })].toSorted()
  return paths
    .filter((path) => globs.some((glob) => fitsGlob(glob, path)))
    .map((path) => {
      const body = readFileSync(join(folder, path))
      return { name: path, bytes: body.byteLength, sha256: sha256(body) }
    })
}

function* filesBelow(folder: string, under: string, room: { left: number }): Generator<string> {
  for (const entry of readdirSync(join(folder, under), { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    room.left -= 1
    if (room.left < 0) throw tooMany(folder)
    const path = under === '' ? entry.name : `${under}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(folder, path, room)
    else if (entry.isFile()) yield path
  }
}

function tooMany(folder: string): Refused {
  const detail = `Cannot look for artifacts in "${folder}": it has more than ${MOST_FILES} files and folders. Name them: --artifacts FILE ...`
  return new Refused({ code: 'too_many_files', detail }, { exitCode: 2 })
}
