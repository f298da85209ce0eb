import type { Entity } from '../../shared/graph/entity.ts'
import { BATCH } from '../../shared/graph/graph-store.ts'
import { readableTriples } from '../../shared/graph/opaque-triples.ts'
import { isEdge, type Triple } from '../../shared/graph/triple.ts'
import type { ShownEvidence, ShownFact } from '../../shared/research/claims/shown-evidence.ts'
import type { Evidence } from '../../shared/research/payloads/candidate-and-evidence.ts'
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
): Promise<readonly StoredEvidence[]> {
  const ids = [...new Set(evidence.map(({ entity_id }) => entity_id))].slice(0, MOST_ITEMS)
  const entities = new Map((await readEntities(world, tenant, ids)).map((entity) => [entity.entity_id, entity]))
  const labels = await readLabels(world, tenant, entities)
  const shown: StoredEvidence[] = []
  let room = MOST_CHARACTERS
  for (const item of evidence) {
    const entity = entities.get(item.entity_id)
    const one = entity === undefined ? asFound(item) : await asStored(world, tenant, item, { entity, labels, room })
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
  { entity, labels, room }: { readonly entity: Entity; readonly labels: ReadonlyMap<string, string>; room: number },
): Promise<StoredEvidence> {
  const { label, snippet, geo, triples = [] } = entity
  const body = room === 0 ? '' : (await bodyText(world.objects, tenant, entity)).slice(0, room)
  const text = body === '' ? (snippet ?? item.snippet_text) : body
  const facts = readableTriples(triples)
    .slice(0, MOST_FACTS)
    .map((triple) => factOf(triple, labels))
  return { ...item, label, text, facts, ...(geo && { geo }) }
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
