import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'
import type {
  DiffusionQuery,
  FollowQuery,
  LookupAnswer,
  SearchAnswer,
  SearchIndex,
  SearchQuery,
} from '../../shared/graph/search-index.ts'
import { diffuseIn } from './diffuse-in.ts'
import { followIn } from './follow-in.ts'
import { type LoadedGraph, loadGraph } from './load-graph.ts'
import { lookUp } from './look-up.ts'
import { indexInfo } from './open-index.ts'
import { searchIn } from './search-in.ts'

/** The SearchIndex port over one open index file, without waiting; `changed` is told when the file was written to. */
export interface IndexReader {
  search(query: SearchQuery): SearchAnswer
  lookup(by: Parameters<SearchIndex['lookup']>[1], text: string): LookupAnswer
  diffuse(query: DiffusionQuery): SearchAnswer
  follow(query: FollowQuery): SearchAnswer
  changed(): void
}

export function indexReader(db: DatabaseSync): IndexReader {
  /** Of the file as it is: how many passages it has, and the graph once it was asked for. */
  let known: { passages?: number; graph?: LoadedGraph } = {}
  const state = () => {
    const as_of = indexInfo(db, 'as_of')
    return as_of === undefined ? {} : { as_of }
  }
  return {
    search: (query) =>
      reading('search', () => {
        checkLimit(query.limit)
        return { hits: searchIn(db, query, () => (known.passages ??= passagesIn(db))), ...state() }
      }),
    lookup: (by, text) =>
      reading('look up a name', () => {
        return { entity_ids: lookUp(db, by, text), ...state() }
      }),
    diffuse: (query) =>
      reading('walk the graph', () => {
        checkLimit(query.limit)
        checkSeeds(query.seeds)
        known.graph ??= loadGraph(db)
        return { hits: diffuseIn(db, known.graph, query), ...state() }
      }),
    follow: (query) =>
      reading('walk the graph', () => {
        checkLimit(query.limit)
        checkSeeds(query.seeds.map(() => ({ weight: 1 })))
        known.graph ??= loadGraph(db)
        return { hits: followIn(db, known.graph, query), ...state() }
      }),
    changed() {
      known = {}
    },
  }
}

/** As many as rows of `words`, whose lengths are a small table of FTS5's own: counting passages would read all texts. */
function passagesIn(db: DatabaseSync): number {
  return Number(db.prepare('SELECT count(*) AS n FROM words_docsize').get()?.n ?? 0)
}

function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return
  const message = `Cannot search: the limit is ${limit}, allowed are 1 to 1000 hits.`
  throw new Fault('InvalidInput', 'bad_search', message)
}

function checkSeeds(seeds: readonly { readonly weight: number }[]): void {
  const wrong = seeds.find(({ weight }) => !(weight > 0 && Number.isFinite(weight)))
  if (wrong === undefined && seeds.length <= 100) return
  const seen = wrong === undefined ? `it has ${seeds.length} seeds` : `a seed weighs ${wrong.weight}`
  const message = `Cannot walk the graph: ${seen}; allowed are at most 100 seeds, each of a weight above 0.`
  throw new Fault('InvalidInput', 'bad_search', message)
}

function reading<T>(doing: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    const seen = cause instanceof Error ? cause.message : String(cause)
    const message = `Cannot ${doing}: the search index answered "${seen}". Try again; the index can be made anew from the graph.`
    throw new Fault('Unavailable', 'index_unavailable', message, { cause })
  }
}
