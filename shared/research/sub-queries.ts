import { hasSuffix } from '../graph/entity-id.ts'
import type { Candidate, RetrievalSource } from './payloads/candidate-and-evidence.ts'
import { type DecomposeArgs, decomposeScopeLimit, type SeedRef, type SeedRefType } from './payloads/route-decision.ts'
import { type Hints, readSearchHints, type SearchHints } from './question/search-hints.ts'

/** One retrieval of execute_subqueries. Its `kind` is what ran in the trace; limits are hits. */
export type SubQuery =
  | { readonly kind: 'lexical'; readonly text: string; readonly limit: number }
  | {
      readonly kind: 'entity_state'
      readonly entity_id: string
      /** Its place among the candidates or seeds it was chosen from, from 1. */
      readonly rank: number
    }
  | {
      readonly kind: 'temporal_range'
      readonly from: string
      readonly to: string
      readonly text: string
      readonly limit: number
    }
  | { readonly kind: 'predicate_walk'; readonly entity_id: string; readonly depth: number; readonly limit: number }
  | {
      readonly kind: 'spatial'
      readonly north: number
      readonly south: number
      readonly east: number
      readonly west: number
      readonly limit: number
    }
  | {
      readonly kind: 'relation_walk'
      readonly seeds: readonly string[]
      /** What is asked: the relations it names are followed. */
      readonly text: string
      readonly limit: number
    }
  | {
      readonly kind: 'graph_diffusion'
      readonly seeds: readonly string[]
      /** What is asked: edges it names draw the walker. */
      readonly text: string
      readonly limit: number
    }

/** The tier and source its hits carry; embeddings, where a provider has them, add their own list to `lexical`. */
export const ORIGINS: Readonly<
  Record<SubQuery['kind'], { readonly tier: '0' | '1'; readonly source: RetrievalSource }>
> = {
  lexical: { tier: '1', source: 'bm25_index' },
  entity_state: { tier: '0', source: 'entity_state' },
  temporal_range: { tier: '0', source: 'temporal_range' },
  predicate_walk: { tier: '0', source: 'predicate_walk' },
  spatial: { tier: '0', source: 'spatial' },
  relation_walk: { tier: '0', source: 'predicate_walk' },
  graph_diffusion: { tier: '1', source: 'graph_diffusion' },
}

/** Sub-queries that run at once. */
export const PARALLEL_SUB_QUERIES = 8

/** Each kind once with the same content, in the order they came: two axes may ask the same. */
export function distinctQueries(queries: readonly SubQuery[]): readonly SubQuery[] {
  return [...new Map(queries.map((query) => [JSON.stringify(query), query])).values()]
}

/** Hops of a walk from seeds: a two-hop question is what walk_seeds is for. */
const WALK_HOPS = 2
/** Hits of each sub-query. */
const HITS = 20

/** The sub-queries of walk_seeds: the topic as text runs whether or not a seed was resolved. */
export function walkQueries(topic: string, seeds: readonly string[]): readonly SubQuery[] {
  return distinctQueries([
    { kind: 'lexical', text: topic, limit: HITS },
    ...[...new Set(seeds)].flatMap((entity_id, place): readonly SubQuery[] => [
      { kind: 'entity_state', entity_id, rank: place + 1 },
      { kind: 'predicate_walk', entity_id, depth: WALK_HOPS, limit: HITS },
    ]),
    ...(seeds.length === 0
      ? []
      : ([
          { kind: 'relation_walk', seeds, text: topic, limit: HITS },
          { kind: 'graph_diffusion', seeds, text: topic, limit: HITS },
        ] as const)),
  ])
}

/** What the next execute_subqueries runs after an assessment: its refined queries, and nothing else. */
export function refinedQueries(refined: readonly string[]): readonly SubQuery[] {
  return distinctQueries(refined.map((text) => ({ kind: 'lexical', text, limit: HITS })))
}

interface Candidates {
  /** In the order the router was shown. */
  readonly candidates: readonly { readonly entity_id: string }[]
  readonly hints: Hints
  readonly now: Date
}

interface AxisTemplate {
  readonly focus: string
  readonly limit: number
  readonly top: readonly string[]
  readonly hints: SearchHints
  readonly now: Date
}

/**
 * The sub-queries of a decomposition: always the focus as text, then what each axis stands for. `missing` names axes
 * whose template had nothing to work with; they degrade the output and abort nothing.
 */
export function decomposeQueries(
  { axes, focus, scope }: DecomposeArgs,
  { candidates, hints, now }: Candidates,
): { readonly queries: readonly SubQuery[]; readonly missing: readonly string[] } {
  const limit = decomposeScopeLimit(scope)
  const top = candidates.slice(0, limit).map(({ entity_id }) => entity_id)
  const template = { focus, limit, top, hints: readSearchHints(hints), now }
  const made = axes.map((axis) => ({ axis, queries: axisQueries(axis.trim(), template) }))
  return {
    queries: distinctQueries([{ kind: 'lexical', text: focus, limit }, ...made.flatMap(({ queries }) => queries)]),
    missing: [...new Set(made.filter(({ queries }) => queries.length === 0).map(({ axis }) => axis))],
  }
}

function axisQueries(axis: string, template: AxisTemplate): readonly SubQuery[] {
  const name = axis.toLowerCase().replace(/[\s-]+/g, '_')
  const known = Object.hasOwn(AXES, name) ? AXES[name] : undefined
  if (known !== undefined) return known(template)
  return [{ kind: 'lexical', text: `${template.focus} ${axis}`, limit: template.limit }]
}

/** A new axis is one line here. */
const AXES: Readonly<Record<string, (template: AxisTemplate) => readonly SubQuery[]>> = {
  entity_type: ({ top }) => top.map((entity_id, place) => ({ kind: 'entity_state', entity_id, rank: place + 1 })),
  relationship: ({ top, limit }) => top.map((entity_id) => ({ kind: 'predicate_walk', entity_id, depth: 1, limit })),
  time: ({ hints, now, focus, limit }) => [
    { kind: 'temporal_range', ...(hints.time_range ?? lastDay(now)), text: focus, limit },
  ],
  spatial: ({ hints, limit }) =>
    hints.geo_bounds === undefined ? [] : [{ kind: 'spatial', ...hints.geo_bounds, limit }],
}

function lastDay(now: Date) {
  return { from: new Date(now.getTime() - 86_400_000).toISOString(), to: now.toISOString() }
}

/** What the index is asked; names come trimmed and in small letters. Opaque triples give neither labels nor aliases. */
export interface SeedLookup {
  byAlias(name: string): Promise<readonly string[]>
  byLabel(name: string): Promise<readonly string[]>
  /** Ids that end in the part, on a segment boundary. */
  bySuffix(part: string): Promise<readonly string[]>
}

/**
 * Entity ids of a router's references, in its order and without repeats. A reference that names nothing or several
 * things is dropped and counted: `note` is then the degraded reason.
 */
export async function resolveSeeds(
  seeds: readonly SeedRef[],
  candidates: readonly Candidate[],
  lookup: SeedLookup,
): Promise<{ readonly entity_ids: readonly string[]; readonly unresolved: number; readonly note?: string }> {
  const found = await Promise.all(seeds.map(({ ref, ref_type }) => RESOLVERS[ref_type](ref.trim(), candidates, lookup)))
  const entity_ids = [...new Set(found.filter((id) => id !== undefined))]
  const unresolved = found.filter((id) => id === undefined).length
  return { entity_ids, unresolved, ...(unresolved === 0 ? {} : { note: `${unresolved} seed references unresolved` }) }
}

type Resolver = (ref: string, candidates: readonly Candidate[], lookup: SeedLookup) => Promise<string | undefined>

const RESOLVERS: Readonly<Record<SeedRefType, Resolver>> = {
  async name(ref, candidates, lookup) {
    const wanted = ref.toLowerCase()
    const labelled = candidates.filter(({ label }) => label?.trim().toLowerCase() === wanted)
    return await firstOf([
      async () => labelled.map(({ entity_id }) => entity_id),
      () => lookup.byAlias(wanted),
      () => lookup.byLabel(wanted),
    ])
  },
  async partial_id(ref, candidates, lookup) {
    const ids = candidates.map(({ entity_id }) => entity_id)
    return await firstOf([async () => ids.filter((id) => hasSuffix(id, ref)), () => lookup.bySuffix(ref)])
  },
  async candidate_index(ref, candidates) {
    return /^\d{1,9}$/.test(ref) ? candidates[Number(ref)]?.entity_id : undefined
  },
}

/** The first place that knows the reference decides; two entities there are no answer, and no later place is asked. */
async function firstOf(places: readonly (() => Promise<readonly string[]>)[]): Promise<string | undefined> {
  for (const ask of places) {
    const ids = new Set(await ask())
    if (ids.size > 0) return ids.size === 1 ? [...ids][0] : undefined
  }
  return undefined
}
