import { canonicalJson, sha256 } from '../canonical.ts'
import { gateOf, gateTypes } from '../gates/registry.ts'
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
 * judged (spec dag). With `routing`, agents found by role, capability or name are judged too, and models that a
 * provider lists; and it is told which commands of gates this place does not run.
 */
export function parseDag(
  given: string | object,
  options: { readonly name?: string; readonly providers?: readonly string[]; readonly routing?: Routing } = {},
): ParseResult {
  const read = typeof given === 'string' ? readYaml(given) : readObject(given)
  const fallback = options.name ?? 'dag'
  const { providers, routing } = options
  const gates = { gateOf, gateTypes }
  const place = { ...(providers === undefined ? {} : { providers }), ...(routing === undefined ? {} : { routing }) }
  const known = { name: fallback, gates, ...place }
  const { problems, warnings, sound } = judge(read, known)
  if (sound === undefined)
    return { ok: false, errors: listErrors(problems, read.source, nameOf(read.source, fallback)) }
  const dag = normalise(sound)
  const prices = routing === undefined ? [] : priceWarnings(dag, routing)
  const told = [...warnings, ...dagWarnings(dag, routing), ...prices]
  return { ok: true, dag, order: topologicalOrder(dag), dag_hash: sha256(canonicalJson(dag)), warnings: told }
}

function nameOf({ value }: Partial<Source>, fallback: string): string {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' && name !== '' ? name : fallback
}
