import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Dag } from '../../shared/dag/dag.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import { readFile, readFileIfAny } from './read-file.ts'
import { usage } from './refused.ts'

/** What to run, as the start route takes it, and the run inputs it declares where its text is at hand. */
interface ChosenDocument {
  readonly body: { readonly example: string } | { readonly name: string } | { readonly dag: string }
  readonly declared?: Dag['inputs']
}

/** `--example NAME` is the package's own document, a path is a file, anything else names one the server has. */
export function chooseDocument(given: string | undefined, example: string | undefined): ChosenDocument {
  if (example !== undefined) {
    if (given !== undefined) throw usage(`Cannot start both "${given}" and the example "${example}": name one.`)
    const path = fileURLToPath(new URL(`../../dags/${basename(example)}.yaml`, import.meta.url))
    return { body: { example }, ...declaredIn(readFileIfAny(path, 'example'), example) }
  }
  if (given === undefined) throw usage('Name what to start: a file, a document of the server, or --example basic.')
  if (isPath(given)) {
    const dag = readFile(given, 'DAG file')
    return { body: { dag }, ...declaredIn(dag, given) }
  }
  return { body: { name: given }, ...declaredIn(readFileIfAny(`dags/${given}.yaml`, 'DAG file'), given) }
}

/** A bare word is a file only if there is one of that name. */
function isPath(given: string): boolean {
  return /[\\/]|\.(ya?ml|json)$/i.test(given) || existsSync(given)
}

/** A document with errors is sent as it is: the server's answer has them all. */
function declaredIn(text: string | undefined, name: string): Pick<ChosenDocument, 'declared'> {
  const parsed = text === undefined ? undefined : parseDag(text, { name })
  return parsed?.ok === true ? { declared: parsed.dag.inputs } : {}
}
