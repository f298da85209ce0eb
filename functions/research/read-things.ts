import { type Entity, entityType } from '../../shared/graph/entity.ts'
import { BATCH } from '../../shared/graph/graph-store.ts'
import { readableTriples } from '../../shared/graph/opaque-triples.ts'
import { respell } from '../../shared/graph/spelling.ts'
import { isEdge, WORD_FOR } from '../../shared/graph/triple.ts'
import type { RelationName } from '../../shared/research/extractive/asked-words.ts'
import { otherWordsForKind } from '../../shared/research/extractive/common-words.ts'
import type { AskedOfGraph } from '../../shared/research/extractive/model.ts'
import { solveSetQuestion } from '../../shared/research/extractive/set-answer.ts'
import { type KnownThing, MOST_THINGS, singularsOf, type ThingSet } from '../../shared/research/extractive/thing-set.ts'
import type { Evidence } from '../../shared/research/payloads/candidate-and-evidence.ts'
import { contentTerms, plainWords } from '../../shared/research/question/terms.ts'
import { findNamed, type SearchWorld } from './candidates.ts'
import type { StageCall } from './stage-call.ts'

/** Words of a question that may say which things it asks of. */
const MOST_WORDS = 12
/** Characters of a literal that are compared; longer ones are prose. */
const MOST_CHARACTERS = 200

/**
 * What the graph knows of a chain's question, for the extractive model alone: another one is shown what fits into its
 * prompt.
 */
export async function readAskedOfGraph({ world, run, state }: StageCall): Promise<AskedOfGraph> {
  if (world.settings.research.provider !== 'extractive') return {}
  const { topic } = state.intent
  try {
    const { misspelt } = await world.search.spelling(run.tenant, topic)
    const spelt = respell(topic, misspelt)
    const words = await readRelationNames(world, run.tenant)
    const set = await readThings(world, run.tenant, spelt)
    return { words, ...(spelt === topic ? {} : { spelt }), ...(set && { set }) }
  } catch (error) {
    // Without them a question that needs them is refused.
    world.log.error('what the graph knows of a question could not be read', {
      run_id: run.run_id,
      error: String(error),
    })
    return {}
  }
}

/** Words that were put for relations, read at the most. */
const MOST_RELATION_WORDS = 500

/** Labels and aliases of what states `sluice.word_for`, each with the predicate it names. */
async function readRelationNames(world: SearchWorld, tenant: string): Promise<readonly RelationName[]> {
  const filter = { stated: { predicate: WORD_FOR } }
  const { hits } = await world.search.search(tenant, { filter, limit: MOST_RELATION_WORDS })
  const entities = await readEntities(
    world,
    tenant,
    hits.map(({ entity_id }) => entity_id),
  )
  return entities.flatMap(({ label, aliases = [], triples = [] }) => {
    const predicates = readableTriples(triples).flatMap(({ predicate, object }) =>
      predicate === WORD_FOR ? [String(object)] : [],
    )
    const names = [...(label === undefined ? [] : [label]), ...aliases]
    return names.flatMap((word) => predicates.map((predicate) => ({ word, predicate })))
  })
}

/**
 * The things a question asks of as a whole (`how many`, `which .. do not`, `the longest`): all of the type it names, up
 * to MOST_THINGS, or those around what it names where there are more. undefined: it asks nothing of a set.
 */
async function readThings(world: SearchWorld, tenant: string, topic: string): Promise<ThingSet | undefined> {
  if (!SET_FORM.test(topic)) return undefined
  const kind = await findType(world, tenant, topic)
  if (kind === undefined) return undefined
  const ids = (await findNamed(world, tenant, { text: topic })).map(({ evidence }) => evidence.entity_id)
  const named = await readEntities(world, tenant, ids)
  const { hits } = await world.search.search(tenant, { filter: { type: kind.type }, limit: MOST_THINGS })
  const closed = hits.length < MOST_THINGS
  const around = closed ? undefined : await readAround(world, tenant, kind.type, ids)
  const members = await readEntities(world, tenant, around?.ids ?? hits.map(({ entity_id }) => entity_id))
  const linked = await readEntities(world, tenant, linkedIds(topic, kind, members))
  const labels = new Map([...named, ...members, ...linked].map(({ entity_id, label }) => [entity_id, label]))
  const known = (entity: Entity) => thingOf(entity, labels)
  return {
    ...kind,
    members: members.map(known),
    closed,
    around: around?.of ?? [],
    named: named.map(known),
    ...(linked.length > 0 && { linked: linked.map(known) }),
  }
}

/** What the members lead to, of other types that the question has a word for: none where there is too much to read. */
function linkedIds(topic: string, { type }: Pick<ThingSet, 'type'>, members: readonly Entity[]): readonly string[] {
  const words = plainWords(topic).flatMap(singularsOf)
  const isAsked = (id: string) => {
    const other = (id.split('.')[4] ?? '').toLowerCase()
    return other !== type && words.includes(other)
  }
  const ids = new Set(
    members.flatMap(({ triples = [] }) =>
      readableTriples(triples).flatMap((triple) => (isEdge(triple) ? [String(triple.object)] : [])),
    ),
  )
  const asked = [...ids].filter(isAsked)
  return asked.length > MOST_THINGS ? [] : asked
}

/** Words that ask for a set, or for one of it. */
const SET_FORM = /\b(?:how many|number of|count|which|what|list|name|show|give|who (?:is|are|was|were) the)\b/i

/** The first word, or two words, of the question that things of the graph have for their type. */
async function findType(
  { search }: SearchWorld,
  tenant: string,
  topic: string,
): Promise<Pick<ThingSet, 'type' | 'word'> | undefined> {
  const asked = topic.split(/(?<=[.!?])\s+(?=\p{Lu})/u).at(-1) ?? topic
  const words = plainWords(asked)
  const found = words.flatMap((word, at) => {
    if (contentTerms(word).length === 0 && word !== 'people') return []
    const next = words[at + 1]
    const pair =
      next === undefined
        ? []
        : singularsOf(next).flatMap((one) => [`${word}_${one}`, `${word}-${one}`, `${word} ${one}`])
    return [
      ...(next === undefined ? [] : [{ word: `${word} ${next}`, types: pair }]),
      { word, types: [...singularsOf(word), ...otherWordsForKind(asked, word)] },
    ]
  })
  for (const { word, types } of found.slice(0, MOST_WORDS)) {
    for (const type of types) {
      const { hits } = await search.search(tenant, { filter: { type }, limit: 1 })
      if (hits.length > 0) return { type, word }
    }
  }
  return undefined
}

/** Things of the type that are linked to what the question names, where all of those are read. */
async function readAround(
  { graph }: SearchWorld,
  tenant: string,
  type: string,
  named: readonly string[],
): Promise<{ readonly ids: readonly string[]; readonly of: readonly string[] }> {
  const ids = new Set<string>()
  const of: string[] = []
  for (const entity_id of named) {
    const met = await graph.neighbours(tenant, { entity_id, direction: 'both', depth: 1, limit: MOST_THINGS })
    if (met.truncated) continue
    of.push(entity_id)
    for (const one of met.entities) if (one.type.toLowerCase() === type) ids.add(one.entity_id)
  }
  return { ids: [...ids].slice(0, MOST_THINGS), of: ids.size > MOST_THINGS ? [] : of }
}

async function readEntities(
  { graph }: SearchWorld,
  tenant: string,
  ids: readonly string[],
): Promise<readonly Entity[]> {
  const read: Entity[] = []
  for (let at = 0; at < ids.length; at += BATCH) read.push(...(await graph.entities(tenant, ids.slice(at, at + BATCH))))
  return read
}

function thingOf(entity: Entity, labels: ReadonlyMap<string, string | undefined>): KnownThing {
  const { entity_id, label, aliases, triples = [] } = entity
  const facts = readableTriples(triples).flatMap((triple) => {
    const { predicate } = triple
    const object = String(triple.object)
    if (isEdge(triple)) return [{ predicate, object: labels.get(object) ?? object, object_id: object }]
    return object.length > MOST_CHARACTERS ? [] : [{ predicate, object }]
  })
  return { entity_id, label, type: entityType(entity), aliases, facts }
}

/** Evidence with the things its answer names, behind what was found. */
export function withNamedThings(topic: string, evidence: readonly Evidence[], known: AskedOfGraph): Evidence[] {
  const { set, spelt = topic, words } = known
  const solved = set === undefined ? undefined : solveSetQuestion(spelt, set, words)
  if (solved === undefined || !('answer' in solved)) return [...evidence]
  const there = new Set(evidence.map(({ entity_id }) => entity_id))
  const { named, proving } = solved.answer
  const missing = [...named.map(({ entity_id }) => entity_id), ...proving].filter((id) => !there.has(id))
  return [...evidence, ...missing.map((entity_id) => ({ entity_id, tier: '0', source: 'search_graph' }))]
}
