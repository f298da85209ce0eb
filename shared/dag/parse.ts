import { canonicalJson, sha256 } from '../canonical.ts'
import { gateOf, gateTypes } from '../gates/registry.ts'
import { check } from './check.ts'
import type { Dag } from './dag.ts'
import { normalise } from './normalise.ts'
import { readObject } from './object-source.ts'
import { topologicalOrder } from './order.ts'
import { type DagError, listErrors } from './report.ts'
import type { Source } from './source.ts'
import { readYaml } from './yaml.ts'

export type ParseResult =
  | {
      readonly ok: true
      readonly dag: Dag
      /** Ids, each after what it waits for; ties in document order. */
      readonly order: readonly string[]
      /** Hex sha256 of the canonical JSON of `dag`: its identity. */
      readonly dag_hash: string
    }
  | { readonly ok: false; readonly errors: readonly DagError[] }

/**
 * Reads, checks and normalises a DAG given as YAML (or JSON) text or as an object. Never throws; every error is
 * answered at once, by position, 100 at most. `name` is used when the document has none (default `dag`). `providers`
 * are the configured ones (`local` is always known); without them any provider is accepted and only the document is
 * judged (spec dag).
 */
export function parseDag(
  given: string | object,
  options: { readonly name?: string; readonly providers?: readonly string[] } = {},
): ParseResult {
  const read = typeof given === 'string' ? readYaml(given) : readObject(given)
  const fallback = options.name ?? 'dag'
  if (!read.ok) return { ok: false, errors: listErrors(read.problems, read.source, fallback) }
  const { providers } = options
  const gates = { gateOf, gateTypes }
  const known = { name: fallback, gates, ...(providers === undefined ? {} : { providers }) }
  const { problems, sound } = check(read.source.value, known)
  if (sound === undefined)
    return { ok: false, errors: listErrors(problems, read.source, nameOf(read.source, fallback)) }
  const dag = normalise(sound)
  return { ok: true, dag, order: topologicalOrder(dag), dag_hash: sha256(canonicalJson(dag)) }
}

function nameOf({ value }: Source, fallback: string): string {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' && name !== '' ? name : fallback
}
