import { BATCH } from '../../shared/graph/graph-store.ts'
import type { EntityFilter } from '../../shared/graph/search-index.ts'
import { isStopWord, plainWord } from '../../shared/graph/search-words.ts'
import { fuseEvidence } from '../../shared/research/evidence-ranking.ts'
import type { Candidate } from '../../shared/research/payloads/candidate-and-evidence.ts'
import { fitsSearch, type SearchDescription } from '../../shared/research/question/search-hints.ts'
import type { World } from '../../shared/world.ts'
import { type Found, findByRelations, foundEntity, foundHit, withinTime } from './hits.ts'
import type { SemanticReranker } from './semantic-rerank.ts'

export type SearchWorld = Pick<World, 'graph' | 'search' | 'clock' | 'log'>

/** Of one part of a search. */
const PART_MS = 10_000
/** Lexical hits a diffusion begins at, besides what the question names. */
const SEEDS = 5

interface FoundCandidates {
  readonly candidates: readonly Candidate[]
  /** Why they may be less than they could be; empty = they are not. */
  readonly degraded: readonly string[]
}

/**
 * The candidates of a description, and of nothing else, so that a search made again from its hints finds the same: what
 * the question names, what the relations it names lead to from there, what lies around the thing it starts at, what the
 * words find, and what diffusion from both finds; in a box or a stretch of time only what lies in it. A part that fails degrades the answer and stops no other.
 */
export async function findCandidates(
  world: SearchWorld,
  tenant: string,
  search: SearchDescription,
  near?: SemanticReranker,
): Promise<FoundCandidates> {
  const failed: string[] = []
  const part = async (what: string, find: () => Promise<readonly Found[]>): Promise<readonly Found[]> => {
    try {
      return await withinTime(world.clock, PART_MS, what, find)
    } catch (error) {
      world.log.error('a part of a search failed', { part: what, error: String(error) })
      failed.push(`${what} failed`)
      return []
    }
  }
  const lists = isBounded(search)
    ? [await part('the search in its bounds', () => findBounded(world, tenant, search))]
    : await findAnywhere(world, tenant, search, { part, near, told: (why) => failed.push(why) })
  return { candidates: rankCandidates(lists, search), degraded: [...new Set(failed)] }
}

function isBounded({ time_range, geo_bounds }: SearchDescription): boolean {
  return time_range !== undefined || geo_bounds !== undefined
}

/** Everything in the box or the time, those first that have words of the question. */
async function findBounded(
  { search: index }: SearchWorld,
  tenant: string,
  search: SearchDescription,
): Promise<readonly Found[]> {
  const filter = filterOf(search)
  const { text, limit } = search
  const [told, all] = await Promise.all([
    index.search(tenant, { text, filter, limit }),
    index.search(tenant, { filter, limit }),
  ])
  const source = search.geo_bounds === undefined ? 'temporal_range' : 'spatial'
  return [...told.hits, ...all.hits].map((hit) => foundHit(hit, { tier: '0', source }))
}

interface Finding {
  readonly part: SearchPart
  readonly near: SemanticReranker | undefined
  /** Takes why the candidates are less than they could be. */
  told(why: string): void
}

type SearchPart = (what: string, find: () => Promise<readonly Found[]>) => Promise<readonly Found[]>

async function findAnywhere(
  world: SearchWorld,
  tenant: string,
  search: SearchDescription,
  { part, near, told }: Finding,
): Promise<readonly (readonly Found[])[]> {
  const { text, limit } = search
  const [named, around, pool] = await Promise.all([
    part('the search for names', () => findNamed(world, tenant, search)),
    part('the search around its start', () => findAround(world, tenant, search)),
    part('the lexical search', async () => {
      const most = Math.max(limit, near?.most ?? 0)
      const { hits } = await world.search.search(tenant, { text, filter: filterOf(search), limit: most })
      return hits.map((hit) => foundHit(hit, { tier: '1', source: 'bm25_index' }))
    }),
  ])
  const lexical = pool.slice(0, limit)
  const seeds = [
    ...named.map(({ evidence }) => ({ entity_id: evidence.entity_id, weight: 1 })),
    ...lexical
      .slice(0, SEEDS)
      .map(({ evidence }, rank) => ({ entity_id: evidence.entity_id, weight: 0.5 / (rank + 1) })),
  ]
  const diffused = await part('the diffusion', async () => {
    if (seeds.length === 0) return []
    const { hits } = await world.search.diffuse(tenant, { seeds, text, limit })
    return hits.map((hit) => foundHit(hit, { tier: '1', source: 'graph_diffusion' }))
  })
  const starts = named.map(({ evidence }) => evidence.entity_id)
  const followed = await part('the search along relations', () =>
    findByRelations(world, tenant, { seeds: starts, text, limit }),
  )
  const meant = await near?.rank(text, pool)
  if (meant?.degraded !== undefined) told(meant.degraded)
  const embedded = (meant?.found ?? []).slice(0, limit)
  // What is named leads to what is asked for, whatever it is itself.
  return [named, followed, around, lexical, embedded, diffused].map((found) =>
    found.filter(({ evidence, type }) => fitsSearch({ entity_id: evidence.entity_id, type }, search)),
  )
}

function filterOf({ type, domain, time_range, geo_bounds }: SearchDescription): EntityFilter {
  return {
    ...(type === undefined ? {} : { type }),
    ...(domain === undefined ? {} : { domain }),
    ...(time_range === undefined ? {} : { time_range }),
    ...(geo_bounds === undefined ? {} : { geo_bounds }),
  }
}

function rankCandidates(lists: readonly (readonly Found[])[], { limit }: SearchDescription): readonly Candidate[] {
  const hits = lists.flatMap((found, list) => found.map((hit) => ({ ...hit, list })))
  const known = new Map<string, Found>()
  for (const hit of hits) {
    const before = known.get(hit.evidence.entity_id)
    known.set(hit.evidence.entity_id, { ...hit, label: before?.label ?? hit.label, type: before?.type ?? hit.type })
  }
  return fuseEvidence(hits)
    .slice(0, limit)
    .map(({ score, objectstore_ref: _, entity_id, ...evidence }) => {
      const { label, type } = known.get(entity_id) ?? {}
      return {
        entity_id,
        ...(label === undefined ? {} : { label }),
        ...(type === undefined ? {} : { type }),
        ...(score === undefined ? {} : { relevance: score }),
        ...evidence,
      }
    })
}
const AROUND = { tier: '0', source: 'search_graph' } as const
/** Hops around the start of a path, and around a zone. */
const PATH_DEPTH = 2
const ZONE_DEPTH = 1

/** What lies around the thing a path starts at, and what lies in a zone. */
async function findAround(
  { graph, search: index }: NameWorld,
  tenant: string,
  { path, zone, limit }: SearchDescription,
): Promise<readonly Found[]> {
  const starts = [
    ...(path?.start === undefined ? [] : [{ name: path.start, depth: PATH_DEPTH }]),
    ...(zone === undefined ? [] : [{ name: zone, depth: ZONE_DEPTH }]),
  ]
  const scores = new Map<string, number>()
  for (const { name, depth } of starts) {
    const [start, ...others] = await idsOf(index, tenant, name)
    if (start === undefined || others.length > 0) continue
    const met = await graph.neighbours(tenant, { entity_id: start, direction: 'both', depth, limit })
    scores.set(start, 1)
    for (const entity of met.entities)
      scores.set(entity.entity_id, scores.get(entity.entity_id) ?? 1 / (1 + entity.depth))
  }
  if (scores.size === 0) return []
  const entities = await graph.entities(tenant, [...scores.keys()].slice(0, BATCH))
  return entities.map((entity) => foundEntity(entity, AROUND, scores.get(entity.entity_id) ?? 0))
}

/** A name that more things have says nothing of any of them. */
const MOST_NAMESAKES = 5

const NAMED = { tier: '0', source: 'classifier_chain' } as const

/** What the question names word for word; a longer name counts more, and a word of it names nothing besides. */
export async function findNamed(
  { graph, search: index }: NameWorld,
  tenant: string,
  { text }: Pick<SearchDescription, 'text'>,
): Promise<readonly Found[]> {
  const names = namesToLookUp(text)
  const found = await Promise.all(names.map((name) => idsOf(index, tenant, name)))
  const words = new Map<string, number>()
  const taken: string[] = []
  for (const [at, ids] of found.entries()) {
    const name = names[at] ?? ''
    if (ids.length === 0 || ids.length > MOST_NAMESAKES || isPartOf(name, taken)) continue
    taken.push(name)
    for (const id of ids) words.set(id, Math.max(words.get(id) ?? 0, name.split(' ').length))
  }
  if (words.size === 0) return []
  const entities = await graph.entities(tenant, [...words.keys()].slice(0, BATCH))
  return entities.map((entity) => foundEntity(entity, NAMED, words.get(entity.entity_id) ?? 0))
}

function isPartOf(name: string, taken: readonly string[]): boolean {
  return taken.some((longer) => ` ${longer} `.includes(` ${name} `))
}

/** Words of a question that are looked at, words of one name, and names that are looked up. */
const MOST_WORDS = 24

const LONGEST_NAME = 4

const MOST_NAMES = 60

/**
 * What of a question may be the name of something: words that stand together, the longest first, and none that begins or
 * ends with a word of grammar. Whether something has the name is for the index to say.
 */
export function namesToLookUp(topic: string): readonly string[] {
  const words = (topic.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}.'’&/-]*/gu) ?? []).map(withoutEnd).slice(0, MOST_WORDS)
  const stops = words.map((word) => isStopWord(plainWord(word)))
  const names: string[] = []
  for (let length = LONGEST_NAME; length >= 1; length -= 1) {
    for (let at = 0; at + length <= words.length; at += 1) {
      const grammar = stops[at] === true || stops[at + length - 1] === true
      const name = words.slice(at, at + length).join(' ')
      if (!grammar && name.length > 1) names.push(name)
    }
  }
  return [...new Set(names)].slice(0, MOST_NAMES)
}

/** `Norway's` names Norway; a full stop ends the sentence, not the name. */
function withoutEnd(word: string): string {
  return word.replace(/['’]s$/, '').replace(/[.'’&/-]+$/, '')
}

type NameWorld = Pick<World, 'graph' | 'search'>

/** Those of the label; where there are none, those of the alias. */
async function idsOf(index: World['search'], tenant: string, name: string): Promise<readonly string[]> {
  const labelled = (await index.lookup(tenant, 'label', name)).entity_ids
  return labelled.length > 0 ? labelled : (await index.lookup(tenant, 'alias', name)).entity_ids
}
