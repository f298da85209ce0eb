import { basename } from 'node:path'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import type { Dag } from '../../../shared/dag/dag.ts'
import { Fault } from '../../../shared/errors.ts'
import { dagGraph } from '../../../shared/plan/dag-graph.ts'
import { readFile } from '../terminal/files.ts'
import { type GraphOptions, sayGraph } from '../terminal/print-graph.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { parseHere } from './document-files.ts'

export interface PrintOptions {
  readonly json?: true
  readonly part?: number
}

/** `sluice compile FILE`: a whole machine or a part of it. */
export function printMachine(session: Session, file: string, { json, part }: PrintOptions): void {
  const dag = readDagFile(file, 'compile')
  const compiled = refuseFaults(() => compileDag(dag))
  const shown = part === undefined ? compiled : compiled.parts[part - 1]
  if (shown === undefined) throw noPart(file, part, compiled.parts.length)
  session.say(json === true ? shown.text : jsonText(shown.definition, 2))
}

function noPart(file: string, part: number | undefined, parts: number) {
  const has = parts === 0 ? 'is one machine and has no parts' : `has parts 1 to ${parts}`
  return usageError(`Cannot print part ${part}: "${file}" ${has}.`)
}

/** `sluice graph FILE`. */
export async function drawDocument(session: Session, file: string, options: GraphOptions): Promise<void> {
  const dag = readDagFile(file, 'draw')
  const graph = refuseFaults(() => dagGraph(dag, () => 1))
  await sayGraph(session, graph, options)
}

/** A document a person named, checked; one with errors ends the command with all of them and exit code 100. */
export function readDagFile(file: string, verb: 'compile' | 'plan' | 'draw'): Dag {
  const name = basename(file).replace(/\.ya?ml$/, '')
  const parsed = parseHere(readFile(file, 'DAG file'), { name })
  if (parsed.ok) return parsed.dag
  const detail = `Cannot ${verb} "${file}": it has errors.`
  throw new Refused({ code: 'invalid_dag', detail, errors: parsed.errors }, { exitCode: 100 })
}

/** What is made of a checked document may still refuse it (too large a piece, a name that is no block): exit code 1. */
export function refuseFaults<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof Fault) || error.name === 'Bug') throw error
    const { code, message, issues } = error
    throw new Refused({ code, detail: message, ...(issues.length > 0 && { errors: issues }) }, { cause: error })
  }
}
