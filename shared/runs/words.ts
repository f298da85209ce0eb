import type { Json } from '../text/json.ts'

/** So many words of a run are kept, the first ones, each so long at most. */
const WORD_LIMITS = { words: 200, characters: 40 } as const

/**
 * The words of a text as a search compares them: letters and digits of any script, small, each once. Longer ones than
 * `WORD_LIMITS` are cut, in a search as in what is searched.
 */
export function wordsIn(text: string): readonly string[] {
  const found = text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => [...word].slice(0, WORD_LIMITS.characters).join(''))
  return [...new Set(found)]
}

/** Of values: texts, numbers and what is inside of lists and objects, but no keys. */
export function wordsOf(values: readonly Json[]): readonly string[] {
  const found = new Set<string>()
  const left: Json[] = values.toReversed()
  while (left.length > 0 && found.size < WORD_LIMITS.words) {
    const value = left.pop() ?? null
    if (typeof value === 'object' && value !== null) left.push(...Object.values<Json>(value).toReversed())
    else if (typeof value !== 'boolean' && value !== null) for (const word of wordsIn(String(value))) found.add(word)
  }
  return [...found].slice(0, WORD_LIMITS.words)
}
