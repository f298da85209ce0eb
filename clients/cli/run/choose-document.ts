import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Dag } from '../../../shared/dag/dag.ts'
import type { DagError } from '../../../shared/text/document-problems.ts'
import { suggest } from '../../../shared/text/wording.ts'
import { filesToCheck, parseHere } from '../documents/document-files.ts'
import { exampleNames } from '../documents/examples.ts'
import type { Target } from '../server/api.ts'
import { fetchRun } from '../server/fetch-run.ts'
import { readFile, readFileIfAny } from '../terminal/files.ts'
import { usageError } from '../terminal/refused.ts'

/** What to run, as the start route takes it, and what is known of it where its text is at hand. */
export interface ChosenDocument {
  readonly body: { readonly example: string } | { readonly name: string } | { readonly dag: string; name?: string }
  readonly dag?: Dag
  /** What is wrong with it. */
  readonly errors?: readonly DagError[]
}

/** `--example NAME` is the package's own document, a path is a file, any other word names one the server has, and none is the only one here. */
export function chooseDocument(given: string | undefined, example: string | undefined): ChosenDocument {
  if (example !== undefined) {
    if (given !== undefined) throw usageError(`Cannot start both "${given}" and the example "${example}": name one.`)
    const path = fileURLToPath(new URL(`../../../dags/${basename(example)}.yaml`, import.meta.url))
    return { body: { example }, ...readDag(readFileIfAny(path, 'example'), example) }
  }
  return given === undefined ? chooseDocument(onlyDocument(), undefined) : documentNamed(given)
}

/** A project with one document need not say which. */
function onlyDocument(): string {
  const [first, ...others] = filesToCheck().filter((file) => basename(file) !== 'sluice.yaml')
  const how = 'Name what to start: a file, a document of the server, or --example basic.'
  if (first === undefined) throw usageError(`There is no document in dags/ here. ${how} \`sluice init\` writes one.`)
  if (others.length === 0) return first
  throw usageError(`There are ${others.length + 1} documents here: ${[first, ...others].join(', ')}. ${how}`)
}

function documentNamed(given: string): ChosenDocument {
  if (isPath(given)) {
    const dag = readFile(given, 'DAG file')
    const name = nameOf(given)
    return { body: { dag, ...(name !== '' && { name }) }, ...readDag(dag, name) }
  }
  return { body: { name: given }, ...readDag(readFileIfAny(`dags/${given}.yaml`, 'DAG file'), given) }
}

/** A bare word is a file only if there is one of that name. */
function isPath(given: string): boolean {
  return /[\\/]|\.(ya?ml|json)$/i.test(given) || existsSync(given)
}

/** What a document that has no name is called: its file's, in the characters the route allows. */
function nameOf(path: string): string {
  const name = basename(path).replace(/\.(ya?ml|json)$/i, '')
  return name
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100)
}

function readDag(text: string | undefined, name: string): Pick<ChosenDocument, 'dag' | 'errors'> {
  if (text === undefined) return {}
  const parsed = parseHere(text, { name })
  return parsed.ok ? { dag: parsed.dag } : { errors: parsed.errors }
}

/** A name that is surely mistyped, before a place is started and leaves its data folder behind. */
export function refuseUnknownName(body: ChosenDocument['body']): void {
  if ('example' in body) {
    const known = exampleNames()
    if (!known.includes(body.example))
      throw usageError(`There is no example "${body.example}". ${hint(body.example, known)}`)
  }
  if (!('name' in body) || 'dag' in body || body.name === undefined) return
  const known = filesToCheck().map((file) => basename(file).replace(/\.ya?ml$/, ''))
  const mayBe = known.length > 0 && suggest(body.name, known) === undefined
  // A document may call itself otherwise than its file: the place knows.
  if (mayBe || known.includes(body.name)) return
  const words =
    known.length === 0 ? 'There is no document in dags/ here; `sluice init` writes one.' : hint(body.name, known)
  throw usageError(`There is no DAG "${body.name}". ${words}`)
}

function hint(given: string, known: readonly string[]): string {
  const near = suggest(given, known)
  return near === undefined ? `There are: ${known.join(', ')}.` : `Did you mean "${near}"?`
}

/** Run inputs of the document the retry runs: the file's, else those of the earlier run. */
export async function declaredInputs(
  target: Target,
  runId: string,
  file = '',
  text?: string,
): Promise<Dag['inputs'] | undefined> {
  if (text === undefined) return (await fetchRun(target, runId)).dag.inputs as Dag['inputs'] | undefined
  const parsed = parseHere(text, { name: basename(file).replace(/\.\w+$/, '') })
  return parsed.ok ? parsed.dag.inputs : undefined
}
