import { BATCH } from '../../shared/graph/graph-store.ts'
import { isStopWord, plainWord } from '../../shared/graph/search-words.ts'
import type { SearchDescription } from '../../shared/research/question/search-hints.ts'
import type { World } from '../../shared/world.ts'
import { type Found, foundEntity } from './hits.ts'

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

export type NameWorld = Pick<World, 'graph' | 'search'>

/** Those of the label; where there are none, those of the alias. */
export async function idsOf(index: World['search'], tenant: string, name: string): Promise<readonly string[]> {
  const labelled = (await index.lookup(tenant, 'label', name)).entity_ids
  return labelled.length > 0 ? labelled : (await index.lookup(tenant, 'alias', name)).entity_ids
}
