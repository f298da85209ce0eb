import type { DatabaseSync } from 'node:sqlite'
import type { FilterSql } from './filter-sql.ts'
import { idfOf } from './idf-among.ts'
import type { ParsedSearch } from './parse-search.ts'
import { PASSAGE_SPAN } from './passage-span.ts'

/** A passage some word of which is looked for. */
export interface FoundPassage {
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
  const rows = db
    .prepare(
      `WITH best AS (
         SELECT words.rowid AS id, bm25(words, 2.0, 1.0, 1.0) AS score
         FROM words ${values.length === 0 ? '' : `JOIN entities e ON e.node = words.rowid / ${PASSAGE_SPAN}`}
         WHERE words MATCH ? ${values.length === 0 ? '' : `AND ${condition}`}
         ORDER BY score, id LIMIT ?)
       SELECT e.node, e.names, p.facts, p.text FROM best
         JOIN passages p ON p.id = best.id JOIN entities e ON e.node = best.id / ${PASSAGE_SPAN}
       ORDER BY best.score, best.id`,
    )
    .all(expression(used, search.phrases), ...values, most)
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
  const count = db.prepare('SELECT doc FROM word_counts WHERE term = ?')
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
