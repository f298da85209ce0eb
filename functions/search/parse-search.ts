import { isStopWord, plainWord, searchWords } from '../../shared/graph/search-words.ts'

/** A text as it is searched. */
export interface ParsedSearch {
  /** Each stem once, by how often the text has it. */
  readonly stems: ReadonlyMap<string, number>
  /** One word of the text for each stem, as FTS5 is given it: letters and digits only, so nothing in it is an operator. */
  readonly words: ReadonlyMap<string, string>
  /** Words in quotes, which must stand together. */
  readonly phrases: readonly (readonly string[])[]
  /** Stems one after the other in the text, stop words between them or not; each pair once. */
  readonly pairs: readonly (readonly [string, string])[]
}

const MOST_CHARACTERS = 4_000
const MOST_WORDS = 48
const MOST_PHRASES = 4

/** What a text asks for; a text of stop words only is taken at its word. undefined: it has no words. */
export function parseSearch(text: string): ParsedSearch | undefined {
  const looked = text.slice(0, MOST_CHARACTERS)
  const all = searchWords(looked).map(({ stem, start, end }) => {
    const word = looked.slice(start, end)
    return { stem, word, stop: isStopWord(plainWord(word)) }
  })
  const telling = all.some(({ stop }) => !stop) ? all.filter(({ stop }) => !stop) : all
  if (telling.length === 0) return undefined
  const stems = new Map<string, number>()
  const words = new Map<string, string>()
  for (const { stem, word } of telling) {
    if (!stems.has(stem) && stems.size === MOST_WORDS) continue
    stems.set(stem, (stems.get(stem) ?? 0) + 1)
    words.set(stem, word)
  }
  return { stems, words, phrases: quoted(looked), pairs: pairsOf(telling.map(({ stem }) => stem)) }
}

function pairsOf(stems: readonly string[]): ParsedSearch['pairs'] {
  const pairs = new Map<string, readonly [string, string]>()
  for (const [at, second] of stems.slice(0, MOST_WORDS).entries()) {
    const first = stems[at - 1]
    if (first !== undefined && first !== second) pairs.set(`${first} ${second}`, [first, second])
  }
  return [...pairs.values()]
}

function quoted(text: string): readonly (readonly string[])[] {
  const parts = [...text.matchAll(/["\u201c\u201d]([^"\u201c\u201d]{1,400})["\u201c\u201d]/g)].slice(0, MOST_PHRASES)
  const phrases = parts.map(([, part = '']) => searchWords(part).map(({ start, end }) => part.slice(start, end)))
  return phrases.filter((words) => words.length > 1)
}
