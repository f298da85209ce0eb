import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { EntityFilter } from '../../shared/graph/search-index.ts'
import { isStopWord, plainWord, searchWords, wordSkimmer } from '../../shared/graph/search-words.ts'
import { lookupName, objectNumber } from './entity-rows.ts'
import { PASSAGE_SPAN, prepared } from './index-file.ts'

/** A passage some word of which is looked for. */
interface FoundPassage {
  readonly node: number
  readonly names: string
  readonly facts: string
  readonly text: string
}

export interface Found {
  readonly passages: readonly FoundPassage[]
  /** How telling a stem is in the whole index; asking costs a look at each passage that has it. */
  idf(stem: string): number
}

/** One in so many passages. */
const COMMON = 5

/**
 * The passages that FTS5's BM25 puts first, names counting twice. Words of more than a fifth of all passages find
 * nothing while there are others: every passage they are in would have to be scored; they still rank what is found.
 */
export function findPassages(
  db: DatabaseSync,
  search: ParsedSearch,
  { condition, values }: FilterSql,
  { all, most }: { readonly all: number; readonly most: number },
): Found {
  const counts = countsOf(db)
  const idf = (stem: string) => idfOf(counts(stem), all)
  const known = [...search.stems.keys()].filter((stem) => counts(stem) > 0)
  const rare = known.filter((stem) => counts(stem) <= all / COMMON)
  const used = (rare.length > 0 ? rare : known).map((stem) => search.words.get(stem) ?? stem)
  if (used.length === 0) return { passages: [], idf }
  const rows = prepared(
    db,
    `WITH best AS (
         SELECT words.rowid AS id, bm25(words, 2.0, 1.0, 1.0) AS score
         FROM words ${values.length === 0 ? '' : `JOIN entities e ON e.node = words.rowid / ${PASSAGE_SPAN}`}
         WHERE words MATCH ? ${values.length === 0 ? '' : `AND ${condition}`}
         ORDER BY score, id LIMIT ?)
       SELECT e.node, e.names, p.facts, p.text FROM best
         JOIN passages p ON p.id = best.id JOIN entities e ON e.node = best.id / ${PASSAGE_SPAN}
       ORDER BY best.score, best.id`,
  ).all(expression(used, search.phrases), ...values, most)
  const passages = rows.map(({ node, names, facts, text }) => ({
    node: Number(node),
    names: String(names ?? ''),
    facts: String(facts ?? ''),
    text: String(text ?? ''),
  }))
  return { passages, idf }
}

/** How many passages have a stem; each is counted once. */
function countsOf(db: DatabaseSync): (stem: string) => number {
  const count = prepared(db, 'SELECT doc FROM word_counts WHERE term = ?')
  const counts = new Map<string, number>()
  return (stem) => {
    const known = counts.get(stem) ?? Number(count.get(stem)?.doc ?? 0)
    counts.set(stem, known)
    return known
  }
}

/** `("a" OR "b") AND "c d"`. */
function expression(words: readonly string[], phrases: ParsedSearch['phrases']): string {
  const any = words.map((word) => `"${word}"`).join(' OR ')
  return [`(${any})`, ...phrases.map((phrase) => `"${phrase.join(' ')}"`)].join(' AND ')
}

/** A text as it is searched. */
export interface ParsedSearch {
  /** Each stem once, by how often the text has it. */
  readonly stems: ReadonlyMap<string, number>
  /** One word of the text for each stem, as FTS5 is given it: letters and digits only, so nothing in it is an operator. */
  readonly words: ReadonlyMap<string, string>
  /** Words in quotes, which must stand together; none of a question, whose quotes are around a title it names. */
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
  const phrases = QUESTION.test(looked) ? [] : quoted(looked)
  return { stems, words, phrases, pairs: pairsOf(telling.map(({ stem }) => stem)) }
}

/** In `Who was in "Dear Brother"?` the quotes are punctuation: the passage about who it was need not have the title. */
const QUESTION = /\?["'”’)\s]*$|^\s*(?:who|whom|whose|what|when|where|which|why|how)\b/i

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

/** A condition on `entities e`, and its values in order. */
export interface FilterSql {
  readonly condition: string
  readonly values: readonly SQLInputValue[]
}

export function filterSql(filter: EntityFilter = {}): FilterSql {
  const parts = [{ condition: 'e.hash IS NOT NULL', values: [] }, ...namedParts(filter), ...rangeParts(filter)]
  return {
    condition: parts.map(({ condition }) => condition).join(' AND '),
    values: parts.flatMap(({ values }) => values),
  }
}

function namedParts({ type, domain, stated }: EntityFilter): readonly FilterSql[] {
  const object = stated?.object
  return [
    ...(type === undefined ? [] : [{ condition: '(e.kind = ? OR e.segment = ?)', values: twice(lookupName(type)) }]),
    ...(domain === undefined ? [] : [{ condition: 'e.domain = ?', values: [domain] }]),
    ...(stated === undefined
      ? []
      : [
          {
            condition: `e.node IN (SELECT s.node FROM stated s JOIN predicates p USING (predicate)
              WHERE p.name = ?${object === undefined ? '' : ' AND s.object = ?'})`,
            values: [stated.predicate, ...(object === undefined ? [] : [objectNumber(object)])],
          },
        ]),
  ]
}

function rangeParts({ time_range: time, geo_bounds: box }: EntityFilter): readonly FilterSql[] {
  const between = 'e.at BETWEEN ? AND ?'
  const crosses = box !== undefined && box.west > box.east
  const lon = crosses ? '(e.lon >= ? OR e.lon <= ?)' : 'e.lon BETWEEN ? AND ?'
  return [
    ...(time === undefined ? [] : [{ condition: between, values: [Date.parse(time.from), Date.parse(time.to)] }]),
    ...(box === undefined
      ? []
      : [{ condition: `e.lat BETWEEN ? AND ? AND ${lon}`, values: [box.south, box.north, box.west, box.east] }]),
  ]
}

function twice(value: string): readonly string[] {
  return [value, value]
}

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

/** As readPassage(), but only wanted stems are known; every other word is ''. */
export function passageSkimmer(wanted: ReadonlySet<string>): (found: FoundPassage) => ReadPassage {
  const skim = wordSkimmer(wanted)
  return ({ node, names, facts, text }) => {
    const often = new Map<string, number>()
    const stems = (texts: readonly string[], weight: number): readonly string[] => {
      const skimmed = texts.map(skim)
      const all = new Array<string>(skimmed.reduce((sum, { count }) => sum + count, 0)).fill('')
      let before = 0
      for (const { count, met } of skimmed) {
        for (const { stem, at } of met) {
          all[before + at] = stem
          often.set(stem, (often.get(stem) ?? 0) + weight)
        }
        before += count
      }
      return all
    }
    const named = stems([names], NAME_WEIGHT)
    const body = stems(facts === '' ? [text] : [facts, text], 1)
    return { node, names: named, body, often, length: named.length + body.length }
  }
}

function stemsOf(text: string): readonly string[] {
  return searchWords(text).map(({ stem }) => stem)
}

/**
 * How telling a stem is: of the question's own as the whole index says, of others as few of the passages that were found
 * have it. To ask the index for each of some thousand stems takes longer than all the rest of a search.
 */
export function idfAmong(
  passages: readonly ReadPassage[],
  own: ReadonlyMap<string, number>,
  idf: (stem: string) => number,
): (stem: string) => number {
  const counts = new Map<string, number>()
  for (const { often } of passages) {
    for (const stem of often.keys()) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  }
  const known = new Map<string, number>([...own.keys()].map((stem) => [stem, idf(stem)]))
  return (stem) => {
    const value = known.get(stem) ?? idfOf(counts.get(stem) ?? 0, passages.length)
    known.set(stem, value)
    return value
  }
}

/** Of a stem that `having` of `all` passages have (Robertson and Spärck Jones, never below 0). */
function idfOf(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5))
}
