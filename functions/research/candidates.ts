import { BATCH } from '../../shared/graph/graph-store.ts'
import type { EntityFilter, SearchQuery } from '../../shared/graph/search-index.ts'
import { isStopWord, plainWord } from '../../shared/graph/search-words.ts'
import { didYouMean, respell } from '../../shared/graph/spelling.ts'
import { fuseEvidence } from '../../shared/research/evidence-ranking.ts'
import type { Candidate } from '../../shared/research/payloads/candidate-and-evidence.ts'
import { fitsSearch, type SearchDescription } from '../../shared/research/question/search-hints.ts'
import type { World } from '../../shared/world.ts'
import { type Found, findByRelations, foundEntity, foundHit, MOST_SEEDS, withinTime } from './hits.ts'
import type { SemanticReranker } from './semantic-rerank.ts'

export type SearchWorld = Pick<World, 'graph' | 'search' | 'clock' | 'log'>

/** Of one part of a search. */
const PART_MS = 10_000

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
  const spelt = await spellSearch(world, tenant, search)
  failed.push(...spelt.told)
  const lists = isBounded(search)
    ? [await part('the search in its bounds', () => findBounded(world, tenant, spelt.search))]
    : await findAnywhere(world, tenant, spelt.search, { part, near, told: (why) => failed.push(why) })
  return { candidates: rankCandidates(lists, search, near?.weight), degraded: [...new Set(failed)] }
}

/** With words that nothing has replaced by the only name next to them, which is told: what was found is not what was asked. */
async function spellSearch(
  world: SearchWorld,
  tenant: string,
  search: SearchDescription,
): Promise<{ readonly search: SearchDescription; readonly told: readonly string[] }> {
  const { text, told } = await spellText(world, tenant, search.text)
  return { search: { ...search, text }, told }
}

/** The same of one text. */
export async function spellText(
  { search: index, log }: SearchWorld,
  tenant: string,
  text: string,
): Promise<{ readonly text: string; readonly told: readonly string[] }> {
  try {
    const { misspelt } = await index.spelling(tenant, text)
    return { text: respell(text, misspelt), told: misspelt.map(didYouMean) }
  } catch (error) {
    log.error('the spelling could not be looked at', { error: String(error) })
    return { text, told: [] }
  }
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
  const named = await part('the search for names', () => findNamed(world, tenant, search))
  const starts = named.map(({ evidence }) => evidence.entity_id)
  const [around, followed, pool] = await Promise.all([
    part('the search around its start', () => findAround(world, tenant, search)),
    part('the search along relations', () => findByRelations(world, tenant, { seeds: starts, text, limit })),
    part('the lexical search', () => {
      const most = Math.max(limit, near?.most ?? 0)
      return findByWords(world, tenant, { text, filter: filterOf(search), named: starts, onward: true, limit: most })
    }),
  ])
  const meant = await near?.rank(text, pool)
  if (meant?.degraded !== undefined) told(meant.degraded)
  const embedded = (meant?.found ?? []).slice(0, limit)
  // What is named leads to what is asked for, whatever it is itself.
  return [named, followed, around, pool.slice(0, limit), embedded].map((found) =>
    found.filter(({ evidence, type }) => fitsSearch({ entity_id: evidence.entity_id, type }, search)),
  )
}

/** What a text's words find, and what that and the things it names (looked up where they are not given) are linked to. */
export async function findByWords(
  world: NameWorld,
  tenant: string,
  { named, ...query }: SearchQuery & { readonly text: string },
): Promise<readonly Found[]> {
  const starts = named ?? (await findNamed(world, tenant, query)).map(({ evidence }) => evidence.entity_id)
  const { hits } = await world.search.search(tenant, { ...query, named: starts.slice(0, MOST_SEEDS) })
  return hits.map((hit) => foundHit(hit, { tier: '1', source: hit.linked === true ? 'graph_diffusion' : 'bm25_index' }))
}

function filterOf({ type, domain, time_range, geo_bounds }: SearchDescription): EntityFilter {
  return {
    ...(type === undefined ? {} : { type }),
    ...(domain === undefined ? {} : { domain }),
    ...(time_range === undefined ? {} : { time_range }),
    ...(geo_bounds === undefined ? {} : { geo_bounds }),
  }
}

function rankCandidates(
  lists: readonly (readonly Found[])[],
  { limit }: SearchDescription,
  byMeaning: number | undefined,
): readonly Candidate[] {
  const hits = lists.flatMap((found, list) => found.map((hit) => ({ ...hit, list })))
  const known = new Map<string, Found>()
  for (const hit of hits) {
    const before = known.get(hit.evidence.entity_id)
    known.set(hit.evidence.entity_id, { ...hit, label: before?.label ?? hit.label, type: before?.type ?? hit.type })
  }
  return fuseEvidence(hits, byMeaning)
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
  const found = await Promise.all(names.map(({ name }) => idsOf(index, tenant, name)))
  const words = new Map<string, number>()
  const taken = new Set<number>()
  for (const [at, ids] of found.entries()) {
    const places = names[at]?.words ?? []
    if (ids.length === 0 || ids.length > MOST_NAMESAKES || places.every((place) => taken.has(place))) continue
    for (const place of places) taken.add(place)
    for (const id of ids) words.set(id, Math.max(words.get(id) ?? 0, places.length))
  }
  if (words.size === 0) return []
  const entities = await graph.entities(tenant, [...words.keys()].slice(0, BATCH))
  return entities.map((entity) => foundEntity(entity, NAMED, words.get(entity.entity_id) ?? 0))
}

/** Words of a question that are looked at, words of one name, and names that are looked up. */
const MOST_WORDS = 32

const LONGEST_NAME = 10

const MOST_NAMES = 150

interface WrittenName {
  readonly name: string
  /** Places of its words. */
  readonly words: readonly number[]
}

/**
 * What of a question may be the name of something, as it stands there and without marks between its words: words one
 * after the other, the longest first, and none that begins or ends with a word of grammar in small letters. Whether
 * something has the name is for the index to say.
 */
export function namesToLookUp(topic: string): readonly WrittenName[] {
  const words = [...topic.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}.'’&/-]*/gu)].slice(0, MOST_WORDS)
  const lengths = Array.from({ length: Math.min(LONGEST_NAME, words.length) }, (_, at) => at + 1).toReversed()
  const names = lengths.flatMap((length) =>
    words.slice(length - 1).flatMap((_, at) => writtenNames(topic, words, at, length)),
  )
  const each = new Map(names.toReversed().map((one) => [one.name, one]))
  return [...each.values()].toReversed().slice(0, MOST_NAMES)
}

/** What stands from a place on in so many words, in both forms; none where it can be no name. */
function writtenNames(
  topic: string,
  words: readonly RegExpExecArray[],
  at: number,
  length: number,
): readonly WrittenName[] {
  const some = words.slice(at, at + length)
  if (!isName(some)) return []
  const places = some.map((_, place) => at + place)
  const forms = [nameFrom(topic, some[0], some.at(-1)), some.map(([word]) => withoutEnd(word)).join(' ')]
  return forms.flatMap((name) => (name.length > 1 ? [{ name, words: places }] : []))
}

/** A word of grammar is no name, and in small letters begins and ends none: `The Cow and I`. */
function isName(words: readonly RegExpExecArray[]): boolean {
  const grammar = words.map(([word]) => isStopWord(plainWord(withoutEnd(word))))
  if (words.length === 1) return grammar[0] === false
  return [0, words.length - 1].every((at) => grammar[at] === false || /^\p{Lu}/u.test(words[at]?.[0] ?? ''))
}

/** From a word to a word, with the commas between them and the bracket that is open at its end. */
function nameFrom(topic: string, first: RegExpExecArray | undefined, last: RegExpExecArray | undefined): string {
  const end = (last?.index ?? 0) + (last?.[0].length ?? 0)
  const name = withoutEnd(topic.slice(first?.index ?? 0, end)).replace(/\s+/g, ' ')
  return name.includes('(') && !name.includes(')') && topic[end] === ')' ? `${name})` : name
}

/** `Norway's` names Norway; a full stop ends the sentence, not the name. */
function withoutEnd(word: string): string {
  return word.replace(/['’]s$/, '').replace(/[.'’&/-]+$/, '')
}

type NameWorld = Pick<World, 'graph' | 'search'>

/** Those of the label; where there are none, those of the alias, and then those whose name has these words. */
async function idsOf(index: World['search'], tenant: string, name: string): Promise<readonly string[]> {
  for (const by of ['label', 'alias', 'written'] as const) {
    const { entity_ids } = await index.lookup(tenant, by, name)
    if (entity_ids.length > 0) return entity_ids
  }
  return []
}
