import { DatabaseSync } from 'node:sqlite'
import { isStopWord, plainWord, searchWords } from '../../../shared/graph/search-words.ts'
import type { Collection } from './collection.ts'
import { openBenchGraph, TENANT } from './open-bench-graph.ts'

/** Ids of the best documents for a text. */
export interface Ranker {
  readonly name: string
  readonly find: (text: string) => Promise<readonly string[]>
  readonly close?: () => void
}

const TOP = 10
/** An entity's own preview ends here; what is longer is its body. */
const SNIPPET = 2_000

export async function openRankers(collection: Collection): Promise<readonly Ranker[]> {
  return [await ours(collection.documents), ...(await plainRankers(collection))]
}

/** Rankings that are not ours, and plain BM25. */
export async function plainRankers({ documents }: Collection): Promise<readonly Ranker[]> {
  return [plainFts(documents), plainBm25(documents), ...(await miniSearches(documents))]
}

type Documents = Collection['documents']

/** The local place as it is: documents are entities with a label, and a preview or body. */
async function ours(documents: Documents): Promise<Ranker> {
  const graph = openBenchGraph()
  await graph.put(
    documents.map(({ id, title, text }) => ({
      entity_id: `bench.test.text.collection.document.${id}`,
      ...(title === '' ? {} : { label: title.slice(0, 500) }),
      ...(text.length > SNIPPET ? { body: text } : { snippet: text }),
    })),
  )
  return {
    name: 'Sluice',
    find: async (text) => {
      const { hits } = await graph.search.search(TENANT, { text, limit: TOP })
      return hits.map(({ entity_id }) => entity_id.split('.').at(-1) ?? '')
    },
    close: graph.close,
  }
}

/** FTS5 with porter and bm25() as they come: any word of the text. */
function plainFts(documents: Documents): Ranker {
  const db = new DatabaseSync(':memory:')
  db.exec("CREATE VIRTUAL TABLE documents USING fts5 (id UNINDEXED, title, text, tokenize = 'porter unicode61')")
  const put = db.prepare('INSERT INTO documents (id, title, text) VALUES (?, ?, ?)')
  for (const { id, title, text } of documents) put.run(id, title, text)
  const find = db.prepare(`SELECT id FROM documents WHERE documents MATCH ? ORDER BY bm25(documents) LIMIT ${TOP}`)
  return {
    name: 'FTS5, porter',
    find: async (text) => {
      const words = new Set(searchWords(text).map(({ start, end }) => `"${text.slice(start, end)}"`))
      return find.all([...words].join(' OR ')).map(({ id }) => String(id))
    },
    close: () => db.close(),
  }
}

/** BM25 as in the textbook (k1 1.2, b 0.75) over title and text as one, with our stems and stop words. */
function plainBm25(documents: Documents): Ranker {
  const stemsOf = (text: string) =>
    searchWords(text).flatMap(({ stem, start, end }) => (isStopWord(plainWord(text.slice(start, end))) ? [] : [stem]))
  const postings = new Map<string, Map<number, number>>()
  const lengths = documents.map(({ title, text }, at) => {
    const stems = stemsOf(`${title} ${text}`)
    for (const stem of stems) {
      const there = postings.get(stem) ?? new Map<number, number>()
      postings.set(stem, there.set(at, (there.get(at) ?? 0) + 1))
    }
    return stems.length
  })
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  return {
    name: 'BM25',
    find: async (text) => {
      const scores = new Map<number, number>()
      for (const stem of stemsOf(text)) {
        const there = postings.get(stem) ?? new Map<number, number>()
        const idf = Math.log(1 + (documents.length - there.size + 0.5) / (there.size + 0.5))
        for (const [at, often] of there) {
          const worn = often + 1.2 * (0.25 + (0.75 * (lengths[at] ?? 0)) / average)
          scores.set(at, (scores.get(at) ?? 0) + (idf * often * 2.2) / worn)
        }
      }
      const best = [...scores].toSorted(([a, x], [b, y]) => y - x || a - b).slice(0, TOP)
      return best.map(([at]) => documents[at]?.id ?? '')
    },
  }
}

/** What is used of MiniSearch; test/bench/package.json has it, the product's own does not. */
interface MiniSearch {
  addAll(documents: Documents): void
  search(text: string): readonly { readonly id: unknown }[]
}

/** As it comes, and with our stems and stop words: it has none of its own. */
async function miniSearches(documents: Documents): Promise<readonly Ranker[]> {
  const name = 'minisearch'
  const loaded: { readonly default: new (options: object) => MiniSearch } = await import(name)
  const stemmed = (word: string) => (isStopWord(plainWord(word)) ? null : (searchWords(word)[0]?.stem ?? null))
  return [
    { name: 'MiniSearch', options: {} },
    { name: 'MiniSearch, our stems', options: { processTerm: stemmed } },
  ].map(({ name, options }) => {
    const index = new loaded.default({ fields: ['title', 'text'], ...options })
    index.addAll(documents)
    return {
      name,
      find: async (text) =>
        index
          .search(text)
          .slice(0, TOP)
          .map(({ id }) => String(id)),
    }
  })
}
