import type { Entity } from '../../shared/graph/entity.ts'
import { BATCH } from '../../shared/graph/graph-store.ts'
import { readableTriples } from '../../shared/graph/opaque-triples.ts'
import { isEdge, type Triple } from '../../shared/graph/triple.ts'
import {
  factText,
  groupFacts,
  type ShownEvidence,
  type ShownFact,
} from '../../shared/research/claims/shown-evidence.ts'
import type { Evidence } from '../../shared/research/payloads/candidate-and-evidence.ts'
import { contentTerms } from '../../shared/research/question/terms.ts'
import { sentencesIn } from '../../shared/text/prose.ts'
import type { World } from '../../shared/world.ts'
import { bodyText } from '../search/body-text.ts'

type ShowWorld = Pick<World, 'graph' | 'objects'>

/** What an answer may cite, with what the graph and the object store say of it. */
export type StoredEvidence = ShownEvidence & Evidence

/** Items that are read from the store; the rest is shown as it was found. */
const MOST_ITEMS = 200
/** Entities whose labels stand for the edges that lead to them. */
const MOST_LABELS = 500
/** Facts of one item. */
const MOST_FACTS = 200
/** Characters of all bodies together: about what a function of 1 GB reads in a second. */
const MOST_CHARACTERS = 16_000_000

/** Evidence with its stored bodies and its facts, those opaque to rules left out. An entity that is gone keeps its snippet. */
export async function showEvidence(
  world: ShowWorld,
  tenant: string,
  evidence: readonly Evidence[],
  topic = '',
): Promise<readonly StoredEvidence[]> {
  const ids = [...new Set(evidence.map(({ entity_id }) => entity_id))].slice(0, MOST_ITEMS)
  const entities = new Map((await readEntities(world, tenant, ids)).map((entity) => [entity.entity_id, entity]))
  const labels = await readLabels(world, tenant, entities)
  const shown: StoredEvidence[] = []
  let room = MOST_CHARACTERS
  for (const item of evidence) {
    const entity = entities.get(item.entity_id)
    const one =
      entity === undefined ? asFound(item) : await asStored(world, tenant, item, { entity, labels, room, topic })
    room = Math.max(0, room - (one.text?.length ?? 0))
    shown.push(one)
  }
  return shown
}

function asFound(item: Evidence): StoredEvidence {
  return { ...item, text: item.snippet_text }
}

async function asStored(
  world: ShowWorld,
  tenant: string,
  item: Evidence,
  {
    entity,
    labels,
    room,
    topic,
  }: {
    readonly entity: Entity
    readonly labels: ReadonlyMap<string, string>
    readonly room: number
    readonly topic: string
  },
): Promise<StoredEvidence> {
  const { label, aliases, snippet, geo, triples = [] } = entity
  const body = room === 0 ? '' : (await bodyText(world.objects, tenant, entity)).slice(0, room)
  // What a search shows of a thing without a text is made of its facts: nobody wrote it, so it is no quotation.
  const text = body === '' ? snippet : body
  const { objectstore_ref = item.objectstore_ref } = entity
  const facts = readableTriples(triples)
    .slice(0, MOST_FACTS)
    .map((triple) => factOf(triple, labels))
  const snippet_text = previewOf(item, entity, { body, facts, topic })
  return {
    ...item,
    ...(snippet_text === undefined ? {} : { snippet_text }),
    ...(objectstore_ref === undefined ? {} : { objectstore_ref }),
    label,
    ...(aliases && { aliases }),
    text,
    facts,
    ...(geo && { geo }),
  }
}

/** Characters of a preview. */
const PREVIEW = 240

/**
 * What an item shows of itself: the passage that was found, else the sentences of its body with most of the question's
 * words, its snippet, its facts. A search that only its type or facts were found by shows those, which says nothing to
 * who reads.
 */
function previewOf(
  { snippet_text = '' }: Evidence,
  entity: Entity,
  { body, facts, topic }: { readonly body: string; readonly facts: readonly ShownFact[]; readonly topic: string },
): string | undefined {
  const { snippet, label, entity_id } = entity
  const isPassage =
    snippet_text !== '' && (snippet === snippet_text || isPartOf(snippet_text, `${snippet ?? ''} ${body}`))
  if (isPassage) return snippet_text
  if (body !== '') return bestPassage(body, topic)
  const said = groupFacts(facts).map(({ predicate, objects }) => factText(label ?? entity_id, predicate, objects))
  return snippet ?? (cutAtWord(said.join('; ')) || snippet_text || undefined)
}

/** A cut preview has an ellipsis at its ends, and joins sentences that stand apart with one. */
function isPartOf(shown: string, whole: string): boolean {
  const plain = whole.replace(/\s+/g, ' ')
  const parts = shown.split('…').map((part) => part.replace(/\s+/g, ' ').trim())
  return parts.every((part) => plain.includes(part))
}

/** The first sentence with most of the question's words, and what follows it, as far as there is room. */
function bestPassage(body: string, topic: string): string {
  const sentences = sentencesIn(body.slice(0, MOST_PREVIEWED))
  const asked = new Set(contentTerms(topic))
  const having = sentences.map((sentence) => new Set(contentTerms(sentence).filter((term) => asked.has(term))).size)
  const at = having.indexOf(Math.max(...having))
  return cutAtWord(sentences.slice(Math.max(0, at)).join(' '))
}

/** Of a body, for its preview. */
const MOST_PREVIEWED = 20_000

function cutAtWord(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim()
  return plain.length <= PREVIEW ? plain : `${plain.slice(0, PREVIEW).replace(/\s\S*$/, '')} …`
}

function factOf(triple: Triple, labels: ReadonlyMap<string, string>): ShownFact {
  const { predicate } = triple
  const object = String(triple.object)
  return isEdge(triple) ? { predicate, object: labels.get(object) ?? object, object_id: object } : { predicate, object }
}

async function readLabels(
  world: ShowWorld,
  tenant: string,
  entities: ReadonlyMap<string, Entity>,
): Promise<ReadonlyMap<string, string>> {
  const targets = [...entities.values()].flatMap(({ triples = [] }) =>
    triples.slice(0, MOST_FACTS).flatMap((triple) => (isEdge(triple) ? [String(triple.object)] : [])),
  )
  const unknown = [...new Set(targets)].filter((id) => !entities.has(id)).slice(0, MOST_LABELS)
  const read = [...entities.values(), ...(await readEntities(world, tenant, unknown))]
  return new Map(read.flatMap(({ entity_id, label }) => (label === undefined ? [] : [[entity_id, label] as const])))
}

async function readEntities(world: ShowWorld, tenant: string, ids: readonly string[]): Promise<readonly Entity[]> {
  const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, at) =>
    world.graph.entities(tenant, ids.slice(at * BATCH, (at + 1) * BATCH)),
  )
  return (await Promise.all(batches)).flat()
}
