import { Fault } from '../../shared/errors.ts'
import { type Entity, entityTime, entityType } from '../../shared/graph/entity.ts'
import { readableTriples } from '../../shared/graph/opaque-triples.ts'
import type { FollowQuery, SearchHit } from '../../shared/graph/search-index.ts'
import type { Clock } from '../../shared/ports/host.ts'
import { factText, groupFacts } from '../../shared/research/claims/shown-evidence.ts'
import type { Hit } from '../../shared/research/evidence-ranking.ts'
import type { Evidence, RetrievalSource } from '../../shared/research/payloads/candidate-and-evidence.ts'
import { ORIGINS } from '../../shared/research/sub-queries.ts'
import type { World } from '../../shared/world.ts'

/** A hit before it has a place among the lists, with what is said of it in a list of candidates. */
export type Found = Omit<Hit, 'list'> & { readonly label?: string | undefined; readonly type?: string | undefined }

interface Origin {
  readonly tier: '0' | '1'
  readonly source: RetrievalSource
}

/** A hit of the search index. */
export function foundHit(hit: SearchHit, { tier, source }: Origin): Found {
  const { entity_id, score, label, type, snippet_text, objectstore_ref, time } = hit
  return {
    evidence: evidenceOf({ entity_id, tier, source, score, snippet_text, objectstore_ref }),
    ...(time === undefined ? {} : { recorded_at: time }),
    label,
    type,
  }
}

/** An entity of the graph; where it has no preview, its first facts are one. */
export function foundEntity(entity: Entity, { tier, source }: Origin, score: number): Found {
  const { entity_id, snippet, objectstore_ref, label } = entity
  const time = entityTime(entity)
  const snippet_text = snippet ?? factsOf(entity)
  return {
    evidence: evidenceOf({ entity_id, tier, source, score, snippet_text, objectstore_ref }),
    ...(time === undefined ? {} : { recorded_at: new Date(time).toISOString() }),
    label,
    type: entityType(entity),
  }
}

function evidenceOf({ snippet_text, objectstore_ref, ...rest }: Evidence): Evidence {
  return {
    ...rest,
    ...(snippet_text === undefined || snippet_text === '' ? {} : { snippet_text }),
    ...(objectstore_ref === undefined ? {} : { objectstore_ref }),
  }
}

/** Characters of a preview that is made of facts. */
const PREVIEW = 240

/** Literals only: an edge's object is an id, which says nothing to a reader. */
function factsOf({ entity_id, label, triples = [] }: Entity): string {
  const literals = readableTriples(triples).filter(({ object }) => !/^[\w-]+(\.[\w-]+){5}$/.test(String(object)))
  const facts = groupFacts(literals.map(({ predicate, object }) => ({ predicate, object: String(object) })))
  let text = ''
  for (const { predicate, objects } of facts) {
    const next = factText(label ?? entity_id, predicate, objects)
    if (text.length + next.length > PREVIEW) break
    text = text === '' ? next : `${text}; ${next}`
  }
  return text
}

/** In tier 0: below what a question names or finds itself (up to 1), above its other neighbours (at most a half). */
const SCORE = 0.9

/** Of the state of what was chosen, by its place among the candidates: their order is that of the evidence. */
export function stateScore(rank: number): number {
  return SCORE + (1 - SCORE) / rank
}

/** What the index takes. */
export const MOST_SEEDS = 100

/** What the relations a question names lead to from what it names: an answer, so it stands before what lies around. */
export async function findByRelations(
  { search: index }: Pick<World, 'search'>,
  tenant: string,
  { seeds, text, limit }: FollowQuery,
): Promise<readonly Found[]> {
  if (seeds.length === 0) return []
  const { hits } = await index.follow(tenant, { seeds: seeds.slice(0, MOST_SEEDS), text, limit })
  return hits.map((hit) => foundHit({ ...hit, score: SCORE }, ORIGINS.relation_walk))
}

/** What was asked, or Fault Unavailable search_too_slow after `ms`; what comes later is thrown away. */
export async function withinTime<T>(clock: Clock, ms: number, what: string, ask: () => Promise<T>): Promise<T> {
  const answered = new AbortController()
  const late = clock.delay(ms, answered.signal).then(() => {
    throw new Fault('Unavailable', 'search_too_slow', `${what} took longer than ${ms} ms.`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([ask(), late])
  } finally {
    answered.abort()
  }
}
