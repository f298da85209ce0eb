import { canonicalJson } from '../text/json.ts'
import type { Evidence, RetrievalSource } from './payloads/candidate-and-evidence.ts'

/** One hit of one ranked list: a sub-query's answer from one source. */
export interface Hit {
  readonly evidence: Evidence
  /** Place of the sub-query among those that ran: scores of two of them cannot be compared. */
  readonly list: number
  /** Refine round in which it ran; absent: the first, before any. */
  readonly round?: number | undefined
  /** When the entity was last written, ISO 8601 UTC. */
  readonly recorded_at?: string | undefined
}

/** Flattens the head of a list: the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). */
const RANK_CONSTANT = 60

/**
 * Hits of all sub-queries as one ranking, each entity once: tier ascending, score descending, most recent first, id.
 * Inside tier 1 a score is the sum of 1/(60 + rank) over the lists an entity is in, since a BM25 score and a cosine
 * say nothing about each other (of embeddings `by_meaning` of that, and of refine rounds the best alone); tiers are never compared by score. Of an entity's hits the lower tier stands, then the
 * better one; a snippet or body it lacks comes from the next. The order hits arrive in changes nothing.
 */
export function fuseEvidence(hits: readonly Hit[], by_meaning = BY_MEANING): readonly Evidence[] {
  const ranking = { ...rankLists(hits), by_meaning }
  const merged = [...Map.groupBy(hits, ({ evidence }) => evidence.entity_id).values()].map((of) =>
    mergeHits(of, ranking),
  )
  return merged.sort(byTierAndScore).map(({ evidence }) => evidence)
}

interface Ranking {
  /** The rank of each hit of tier 1 in its own list, from 1. */
  readonly ranks: ReadonlyMap<Hit, number>
  /** How many lists the first round has, those of embeddings left out; at least 1. */
  readonly lists: number
  /** How much a list of embeddings counts. */
  readonly by_meaning: number
}

const EMBEDDING: RetrievalSource = 'embedding'

function rankLists(hits: readonly Hit[]): Omit<Ranking, 'by_meaning'> {
  const lists = Map.groupBy(
    hits.filter(({ evidence }) => evidence.tier === '1'),
    listOf,
  )
  const ranks = new Map<Hit, number>()
  for (const list of lists.values()) {
    const entities = new Map<string, number>()
    for (const hit of [...list].sort(byTotalOrder)) {
      const { entity_id } = hit.evidence
      entities.set(entity_id, entities.get(entity_id) ?? entities.size + 1)
      ranks.set(hit, entities.get(entity_id) ?? 0)
    }
  }
  const first = [...lists.values()].filter(([hit]) => (hit?.round ?? 0) === 0 && hit?.evidence.source !== EMBEDDING)
  return { ranks, lists: Math.max(1, first.length) }
}

/** What one sub-query found by words and links is one list; what embeddings make of it is another. */
function listOf({ list, evidence }: Hit): string {
  return `${list} ${isByMeaning({ evidence }) ? EMBEDDING : ''}`
}

/** Decided for every two hits that differ at all. */
function byTotalOrder(a: Hit, b: Hit): number {
  return byTierAndScore(a, b) || compareText(canonicalJson(a.evidence), canonicalJson(b.evidence))
}

function byTierAndScore(a: Hit, b: Hit): number {
  return (
    compareText(a.evidence.tier, b.evidence.tier) ||
    (b.evidence.score ?? 0) - (a.evidence.score ?? 0) ||
    compareText(b.recorded_at ?? '', a.recorded_at ?? '') ||
    compareText(a.evidence.entity_id, b.evidence.entity_id)
  )
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** All hits of one entity as one. */
function mergeHits(hits: readonly Hit[], ranking: Ranking): Hit {
  const { ranks } = ranking
  const byWorth = (a: Hit, b: Hit) =>
    compareText(a.evidence.tier, b.evidence.tier) || (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0) || byTotalOrder(a, b)
  const sorted = [...hits].sort(byWorth)
  const [best] = sorted
  if (best === undefined) throw new TypeError('merge() needs a hit')
  const { entity_id, tier, source, score: own } = best.evidence
  const score = tier === '1' ? fusedScore(sorted, ranking) : own
  const snippet_text = firstText(sorted, 'snippet_text')
  const objectstore_ref = firstText(sorted, 'objectstore_ref')
  return {
    list: best.list,
    recorded_at:
      hits
        .map((hit) => hit.recorded_at ?? '')
        .sort()
        .at(-1) ?? '',
    evidence: asEvidence({ entity_id, tier, source, score, snippet_text, objectstore_ref }),
  }
}

type Fields = { readonly [K in keyof Evidence]: Evidence[K] | undefined } & Pick<
  Evidence,
  'entity_id' | 'tier' | 'source'
>

/** An item of evidence and nothing else of what carries it. */
export function asEvidence({ entity_id, tier, source, score, snippet_text, objectstore_ref }: Fields): Evidence {
  return {
    entity_id,
    tier,
    source,
    ...(score === undefined ? {} : { score }),
    ...(snippet_text === undefined ? {} : { snippet_text }),
    ...(objectstore_ref === undefined ? {} : { objectstore_ref }),
  }
}

/**
 * Each list counts once; added up from the best rank on, for sums of fractions depend on their order. Of what was asked
 * later only the best rank counts, as if it stood in all the first lists and a little lower.
 */
function fusedScore(sorted: readonly Hit[], { ranks, lists, by_meaning }: Ranking): number {
  const best = new Map<string, number>()
  let later = 0
  for (const hit of sorted) {
    const rank = ranks.get(hit)
    if (rank === undefined || best.has(listOf(hit))) continue
    const worth = (isByMeaning(hit) ? by_meaning : 1) / (RANK_CONSTANT + rank)
    if ((hit.round ?? 0) > 0) later = Math.max(later, worth * LATER * lists)
    else best.set(listOf(hit), worth)
  }
  const first = [...best.values()].sort((a, b) => b - a).reduce((total, worth) => total + worth, 0)
  return Math.max(first, later)
}

/** What a refine round found counts so much: its best stands where the first round has its seventh. */
const LATER = 0.9
/** A ranking by embeddings counts so much beside that of words and links, unless somebody measured more: a weak model must not lower it. */
export const BY_MEANING = 0.25

function isByMeaning({ evidence: { source } }: Pick<Hit, 'evidence'>): boolean {
  return source === EMBEDDING
}

function firstText(hits: readonly Hit[], key: 'snippet_text' | 'objectstore_ref'): string | undefined {
  return hits.map(({ evidence }) => evidence[key]).find((text) => text !== undefined && text !== '')
}

/** Four characters a token over what a prompt would show of the item; at least 1. */
export function evidenceTokens({ entity_id, snippet_text = '', source, objectstore_ref = '' }: Evidence): number {
  const characters = entity_id.length + snippet_text.length + source.length + objectstore_ref.length
  return Math.max(1, Math.floor(characters / 4))
}

/**
 * The best-ranked items whose estimates together fit: the ranking is cut where the first one does not, so that more
 * tokens never take an item away.
 */
export function trimEvidence(
  ranked: readonly Evidence[],
  budget_tokens: number,
): { readonly evidence: readonly Evidence[]; readonly tokens: number } {
  let tokens = 0
  for (const [place, item] of ranked.entries()) {
    const next = tokens + evidenceTokens(item)
    if (next > budget_tokens) return { evidence: ranked.slice(0, place), tokens }
    tokens = next
  }
  return { evidence: ranked, tokens }
}
