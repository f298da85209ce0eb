import { BATCH } from '../../shared/graph/graph-store.ts'
import type { SearchDescription } from '../../shared/research/describe-search.ts'
import { namesToLookUp } from '../../shared/research/names-to-look-up.ts'
import type { World } from '../../shared/world.ts'
import { type Found, foundEntity } from './found-entity.ts'

type NameWorld = Pick<World, 'graph' | 'search'>

/** A name that more things have says nothing of any of them. */
const MOST_NAMESAKES = 5
const NAMED = { tier: '0', source: 'classifier_chain' } as const
const AROUND = { tier: '0', source: 'search_graph' } as const
/** Hops around the start of a path, and around a zone. */
const PATH_DEPTH = 2
const ZONE_DEPTH = 1

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

/** What lies around the thing a path starts at, and what lies in a zone. */
export async function findAround(
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

/** Those of the label; where there are none, those of the alias. */
async function idsOf(index: World['search'], tenant: string, name: string): Promise<readonly string[]> {
  const labelled = (await index.lookup(tenant, 'label', name)).entity_ids
  return labelled.length > 0 ? labelled : (await index.lookup(tenant, 'alias', name)).entity_ids
}

function isPartOf(name: string, taken: readonly string[]): boolean {
  return taken.some((longer) => ` ${longer} `.includes(` ${name} `))
}
