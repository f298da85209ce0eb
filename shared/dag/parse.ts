import { canonicalJson, sha256 } from '../canonical.ts'
import { Fault } from '../errors.ts'
import { type Program, problemsApart, programProblem } from '../gates/programs.ts'
import { gateOf, gateTypes } from '../gates/registry.ts'
import type { Isolate } from '../isolate.ts'
import type { Routing } from '../settings.ts'
import type { Dag } from './dag.ts'
import { judge } from './judge.ts'
import { normalise } from './normalise.ts'
import { readObject } from './object-source.ts'
import { topologicalOrder } from './order.ts'
import { priceWarnings } from './price-warnings.ts'
import { type DagError, listErrors } from './report.ts'
import type { Source } from './source.ts'
import { type DagWarning, dagWarnings } from './warnings.ts'
import { readYaml } from './yaml.ts'

export type ParseResult =
  | {
      readonly ok: true
      readonly dag: Dag
      /** Ids, each after what it waits for; ties in document order. */
      readonly order: readonly string[]
      /** Hex sha256 of the canonical JSON of `dag`: its identity. */
      readonly dag_hash: string
      /** What the document will suffer from when it runs; none of it keeps it from being started. */
      readonly warnings: readonly DagWarning[]
    }
  | { readonly ok: false; readonly errors: readonly DagError[] }

/**
 * Reads, checks and normalises a DAG given as YAML (or JSON) text or as an object. Never throws; every error is
 * answered at once, by position, 100 at most. `name` is used when the document has none (default `dag`). `providers`
 * are the configured ones (`local` is always known); without them any provider is accepted and only the document is
 * judged. With `routing`, agents found by role, capability or name are judged too, and models that a
 * provider lists; and it is told which commands of gates this place does not run.
 */
export function parseDag(given: string | object, options: ParseOptions = {}): ParseResult {
  const { programs, finish } = begin(given, options)
  return finish(programs.map(programProblem))
}

/**
 * The same, for a place where others wait: what is dear (compiling schemas and patterns) is done in the isolate. A program
 * that runs over its limit there is an error of the document. Fault Unavailable isolate_failed when it cannot compute.
 */
export async function parseDagApart(
  given: string | object,
  options: ParseOptions,
  isolate: Isolate,
): Promise<ParseResult> {
  const { programs, finish } = begin(given, options)
  return finish(await problemsApart(programs, isolate, unable))
}

interface ParseOptions {
  readonly name?: string
  readonly providers?: readonly string[]
  readonly routing?: Routing
}

interface Begun {
  readonly programs: readonly Program[]
  /** `compiled`: what is wrong with each program, in the same order. */
  finish(compiled: readonly (string | undefined)[]): ParseResult
}

function begin(given: string | object, options: ParseOptions): Begun {
  const read = typeof given === 'string' ? readYaml(given) : readObject(given)
  const fallback = options.name ?? 'dag'
  const { providers, routing } = options
  const gates = { gateOf, gateTypes }
  const place = { ...(providers === undefined ? {} : { providers }), ...(routing === undefined ? {} : { routing }) }
  const known = { name: fallback, gates, ...place }
  const { problems, warnings, programs, sound } = judge(read, known)
  return {
    programs: programs.map(({ program }) => program),
    finish(compiled) {
      const refused = programs.flatMap(({ refuse }, at) => {
        const message = compiled[at]
        return message === undefined ? [] : [refuse(message)]
      })
      if (sound === undefined || refused.length > 0) {
        const all = [...problems, ...refused]
        return { ok: false, errors: listErrors(all, read.source, nameOf(read.source, fallback)) }
      }
      const dag = normalise(sound)
      const prices = routing === undefined ? [] : priceWarnings(dag, routing)
      const told = [...warnings, ...dagWarnings(dag, routing), ...prices]
      return { ok: true, dag, order: topologicalOrder(dag), dag_hash: sha256(canonicalJson(dag)), warnings: told }
    },
  }
}

function unable(message: string): Fault {
  const text = `Cannot check the document: the isolate that compiles its schemas and patterns failed (${message}). Try again.`
  return new Fault('Unavailable', 'isolate_failed', text)
}

function nameOf({ value }: Partial<Source>, fallback: string): string {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' && name !== '' ? name : fallback
}
