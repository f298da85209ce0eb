import { searchWords } from '../../shared/graph/search-words.ts'
import type { FoundPassage } from './find-passages.ts'

/** How often a word of a name counts. */
const NAME_WEIGHT = 2

/** A passage as stems. */
export interface ReadPassage {
  readonly node: number
  /** Stems of its entity's names. */
  readonly names: readonly string[]
  /** Stems of what is stated and of the text, in order. */
  readonly body: readonly string[]
  /** Each stem by how often it stands there. */
  readonly often: ReadonlyMap<string, number>
  /** Words in all. */
  readonly length: number
}

export function readPassage({ node, names, facts, text }: FoundPassage): ReadPassage {
  const named = stemsOf(names)
  const body = [...stemsOf(facts), ...stemsOf(text)]
  const often = new Map<string, number>()
  for (const stem of named) often.set(stem, (often.get(stem) ?? 0) + NAME_WEIGHT)
  for (const stem of body) often.set(stem, (often.get(stem) ?? 0) + 1)
  return { node, names: named, body, often, length: named.length + body.length }
}

function stemsOf(text: string): readonly string[] {
  return searchWords(text).map(({ stem }) => stem)
}
