import type { Edge } from './entity.ts'
import { textWords } from './search-words.ts'

/** An edge found in texts. */
export interface Link extends Edge {
  /** The first in each passage, five at most. */
  readonly places: readonly LinkPlace[]
}

/** Where in the subject's texts: `body`, `snippet`, or the predicate of what it states. Bytes from its start. */
export interface LinkPlace {
  readonly in: string
  readonly start: number
  readonly end: number
}

/** A name as texts are searched for it: its words as written, the first letter small, and what stands between them. */
export interface NameKey {
  readonly key: string
  readonly words: readonly string[]
  readonly written: Written
}

/** `first`: nothing but its first letter says that it is a name, so it may be a common word: `Love`, `Film director`. */
export type Written = 'small' | 'first' | 'proper'

/** Names of fewer characters are no names: they are too much of everything. */
const LEAST_CHARACTERS = 2
/** Names of more words are no names either: each place of a text may begin one, and all of it is looked at there. */
const MOST_WORDS = 24

/** Every name of a thing once, and each without the bracket at its end: `Ed Wood (film)` is written `Ed Wood`. */
export function nameKeys(names: readonly string[]): readonly NameKey[] {
  const keys = new Map<string, NameKey>()
  for (const name of names) {
    const short = nameKey(withoutBracket(name))
    const whole = nameKey(name)
    if (short !== undefined) keys.set(short.key, short)
    if (whole !== undefined) keys.set(whole.key, whole)
  }
  return [...keys.values()]
}

/** `Ed Wood (film)` is `Ed Wood`. */
export function withoutBracket(name: string): string {
  return name.replace(BRACKET, '')
}

const BRACKET = /\s*\([^()]*\)\s*$/

function nameKey(name: string): NameKey | undefined {
  const words = keyWords(name)
  const [first] = words
  if (first === undefined || (words.length === 1 && first.word.length < LEAST_CHARACTERS)) return undefined
  if (words.length > MOST_WORDS) return undefined
  const key = [first.small, ...words.slice(1).map(({ joined }) => joined)].join(' ')
  const rest = key.slice(1)
  const written = rest !== rest.toLowerCase() ? 'proper' : first.small === first.word ? 'small' : 'first'
  return { key, words: words.map(({ word }) => word), written }
}

interface KeyWord {
  readonly word: string
  /** With a small first letter: how a name begins. */
  readonly small: string
  /** With what stands before it, blanks and hyphens left out: how a name goes on. */
  readonly joined: string
  readonly start: number
  readonly end: number
}

function keyWords(text: string): readonly KeyWord[] {
  let before = 0
  return textWords(text).map(({ word, start, end }) => {
    const isLoose = start === before || (start === before + 1 && text.charCodeAt(before) === BLANK)
    const gap = isLoose ? '' : text.slice(before, start).replace(LOOSE, '').replaceAll('’', "'")
    before = end
    return { word, small: smallFirst(word), joined: gap === '' ? word : gap + word, start, end }
  })
}

/** Whether a name is written in one word, in two, or with a hyphen between them does not matter as long as the words are the same. */
const LOOSE = /[\s\u2010-\u2015-]+/g
/** What mostly stands there. */
const BLANK = 32

function smallFirst(word: string): string {
  const code = word.charCodeAt(0)
  if (code >= 97 && code <= 122) return word
  const [first = ''] = word
  return first.toLowerCase() + word.slice(first.length)
}

/** Names that are there, by how they begin: a branch for each beginning that one of them has. */
export interface NameTree<T, Branch> {
  /** The names whose first word is this one, with a small first letter. */
  first(small: string): Branch | undefined
  /** Those among them that go on so; `joined` as in the key of a name. */
  next(branch: Branch, joined: string): Branch | undefined
  /** The one that is no longer than that. */
  nameAt(branch: Branch): T | undefined
}

export interface FoundName<T> {
  readonly name: T
  /** UTF-16 units. */
  readonly start: number
  readonly end: number
  /** Its first letter is a capital. */
  readonly capital: boolean
}

/** The names that stand in a text, from left to right, the longest first, none over another. */
export function findNames<T, Branch>(text: string, names: NameTree<T, Branch>): readonly FoundName<T>[] {
  const words = keyWords(text)
  const found: FoundName<T>[] = []
  for (let at = 0; at < words.length; ) {
    const { name, upTo } = longestAt(words, at, names)
    const [first, last] = [words[at], words[upTo - 1]]
    if (name !== undefined && first !== undefined && last !== undefined) {
      found.push({ name, start: first.start, end: last.end, capital: first.small !== first.word })
    }
    at = upTo
  }
  return found
}

function longestAt<T, Branch>(words: readonly KeyWord[], at: number, names: NameTree<T, Branch>) {
  let longest: { readonly name: T | undefined; readonly upTo: number } = { name: undefined, upTo: at + 1 }
  let branch = names.first(words[at]?.small ?? '')
  for (let end = at + 1; branch !== undefined; end += 1) {
    const name = names.nameAt(branch)
    if (name !== undefined) longest = { name, upTo: end }
    const next = words[end]
    branch = next === undefined ? undefined : names.next(branch, next.joined)
  }
  return longest
}

/** How a name is met in all texts. */
export interface NameUse {
  readonly written: Written
  /** Things that bear it. */
  readonly bearers: number
  /** Texts that have it, with a capital or as it is written; and only with a small letter. */
  readonly capital: number
  readonly small: number
}

/** A name that so many texts have is no word of its own: it is left alone. */
const LEAST_COMMON = { name: 20, word: 5 }
const COMMON = { name: 0.02, word: 0.001 }
/** Of more namesakes none is linked. */
const MOST_BEARERS = 5

/**
 * What mentions of a name are: `all` where also those with a small letter count, `capital` where only the others do,
 * `none` where it is a common word of this graph. A name is a word where most texts write it small.
 */
export function nameLinks({ written, bearers, capital, small }: NameUse, texts: number): 'all' | 'capital' | 'none' {
  if (bearers === 0 || bearers > MOST_BEARERS) return 'none'
  const isName = written === 'proper' || (written === 'first' && capital > small)
  const kind = isName ? 'name' : 'word'
  const met = isName && written === 'first' ? capital : capital + small
  if (met > Math.max(LEAST_COMMON[kind], COMMON[kind] * texts)) return 'none'
  return isName && written === 'first' ? 'capital' : 'all'
}
