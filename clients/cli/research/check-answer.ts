import { GRAPH_ROUTES } from '../../../shared/api/graph-routes.ts'
import type { ResearchAnswer } from '../../../shared/api/research-routes.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import { readableTriples } from '../../../shared/graph/opaque-triples.ts'
import { isEdge } from '../../../shared/graph/triple.ts'
import { checkedLines, isGrounded, type SentenceFinding } from '../../../shared/research/claims/check-synthesis.ts'
import { citableText, type ShownEvidence } from '../../../shared/research/claims/shown-evidence.ts'
import type { Evidence } from '../../../shared/research/payloads/candidate-and-evidence.ts'
import { quotationsIn, withoutQuotations } from '../../../shared/text/quotations.ts'
import { checkQuote, indexQuoteSources, type QuoteIndex } from '../../../shared/text/verbatim-quotes.ts'
import { callApi, fetchResponse, type Target } from '../server/api.ts'
import { Refused } from '../terminal/refused.ts'

/** An answer held against what the server has stored, sentence by sentence. */
export interface CheckedAnswer {
  readonly sentences: readonly CheckedSentence[]
  /** Items the answer cites, by their place from 1. */
  readonly cited: ReadonlyMap<number, StoredEvidence>
}

interface CheckedSentence extends SentenceFinding {
  readonly grounded: boolean
  /** Its quotations, or the whole of it without its citations, where they stand in an item it cites: bytes of its text and facts. */
  readonly verbatim: readonly { readonly place: number; readonly start: number; readonly end: number }[]
}

/** Reads what is cited, nothing else. */
export async function checkAnswer(
  target: Target,
  { intent, result, degraded }: ResearchAnswer,
): Promise<CheckedAnswer> {
  if (result === undefined) return { sentences: [], cited: new Map() }
  const { evidence = [], synthesis } = result
  const check = (items: typeof evidence) =>
    checkedLines({ topic: intent.topic, synthesis, degraded }, items).flatMap(({ sentences }) => sentences)
  // Which items a sentence cites does not depend on what they say.
  const places = new Set(check(evidence).flatMap((finding) => finding.places))
  const stored = await Promise.all(
    evidence.map(async (item, at) => (places.has(at + 1) ? await storedEvidence(target, item) : item)),
  )
  const findings = check(stored)
  const cited = [...places]
    .toSorted((a, b) => a - b)
    .flatMap((place): [number, StoredEvidence][] => {
      const item = stored[place - 1]
      return item === undefined ? [] : [[place, item]]
    })
  const index = indexQuoteSources([...cited].map(([place, item]) => ({ id: `${place}`, text: citableText(item) })))
  return {
    sentences: findings.map((finding) => ({
      ...finding,
      grounded: isGrounded(finding),
      verbatim: verbatimIn(finding, index),
    })),
    cited: new Map(cited),
  }
}

function verbatimIn({ sentence, places }: SentenceFinding, index: QuoteIndex): CheckedSentence['verbatim'] {
  const quoted = quotationsIn(sentence).map(({ quote }) => quote)
  const whole = withoutQuotations(sentence)
    .replace(/ ?\[[^\]]*\]\.?/g, '')
    .trim()
  return (quoted.length > 0 ? quoted : [whole]).flatMap((quote) =>
    places.flatMap((place) => {
      const found = checkQuote(index, quote, `${place}`)
      return found?.verdict === 'found' ? [{ place, start: found.start, end: found.end }] : []
    }),
  )
}

/** An item of evidence with what the server has stored of it now. */
type StoredEvidence = Evidence & ShownEvidence

/**
 * Reads an item anew, so that what an answer quotes is checked here and not believed: the entity, its body, the names
 * its edges lead to. Of an entity that is gone the snippet is left.
 */
async function storedEvidence(target: Target, item: Evidence): Promise<StoredEvidence> {
  const entity = await unlessGone(readEntity(target, item.entity_id))
  if (entity === undefined) return { ...item, text: item.snippet_text }
  const body =
    entity.objectstore_ref === undefined ? undefined : await unlessGone(readBody(target, entity.objectstore_ref))
  const names = await readNames(target, entity)
  const facts = readableTriples(entity.triples ?? []).map((triple) => {
    const object = String(triple.object)
    if (!isEdge(triple)) return { predicate: triple.predicate, object }
    return { predicate: triple.predicate, object: names.get(object) ?? object, object_id: object }
  })
  return { ...item, label: entity.label, text: body ?? entity.snippet ?? item.snippet_text, facts }
}

async function readEntity(target: Target, id: string): Promise<Entity> {
  const params = { path: { entity_id: id } }
  const answer = GRAPH_ROUTES['get-entity'].answer.loose()
  return (await callApi(target, answer, (api) => api.GET('/api/graph/entities/{entity_id}', { params }))).entity
}

async function readBody(target: Target, ref: string): Promise<string> {
  const response = await fetchResponse(target, (api) =>
    api.GET('/api/objects/{sha256}', { params: { path: { sha256: ref.split('/').at(-1) ?? '' } } }),
  )
  return await response.text()
}

/** Labels of what it leads to. */
async function readNames(target: Target, { entity_id, triples = [] }: Entity): Promise<ReadonlyMap<string, string>> {
  if (!triples.some(isEdge)) return new Map()
  const params = { path: { entity_id }, query: { direction: 'out', mentions: 'none', limit: 1_000 } } as const
  const { entities } = await callApi(target, GRAPH_ROUTES['get-neighbors'].answer.loose(), (api) =>
    api.GET('/api/graph/entities/{entity_id}/neighbors', { params }),
  )
  return new Map(entities.flatMap(({ entity_id: id, label }) => (label === undefined ? [] : [[id, label] as const])))
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}
