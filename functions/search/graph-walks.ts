import type { DatabaseSync } from 'node:sqlite'
import { followRelations, type RelationWord } from '../../shared/graph/follow-relations.ts'
import { personalisedPageRank } from '../../shared/graph/page-rank.ts'
import type { DiffusionQuery, FollowQuery, SearchHit } from '../../shared/graph/search-index.ts'
import { isStopWord, plainWord, searchWords } from '../../shared/graph/search-words.ts'
import { type LoadedGraph, nodePosition } from './load-graph.ts'
import { parseSearch } from './passage-query.ts'
import { scoredHits } from './search.ts'

/** How much more than another a kind of edge draws that the text names. */
const DRAWN = 10

/** Entities a walker from the seeds meets most; ties by number, which is the order in which they were put. */
export function diffuseFrom(
  db: DatabaseSync,
  graph: LoadedGraph,
  { seeds, text, limit }: DiffusionQuery,
): readonly SearchHit[] {
  const find = db.prepare('SELECT node FROM entities WHERE entity_id = ? AND hash IS NOT NULL')
  const places = seeds.flatMap(({ entity_id, weight }) => {
    const row = find.get(entity_id)
    const node = row === undefined ? undefined : nodePosition(graph.nodes, Number(row.node))
    return node === undefined ? [] : [{ node, weight }]
  })
  const scores = personalisedPageRank(
    graph.adjacency,
    places,
    text === undefined ? undefined : drawnBy(text, graph.predicates),
  )
  return scoredHits(
    db,
    highest(scores, limit).map((place) => ({ node: graph.nodes[place] ?? 0, score: scores[place] ?? 0 })),
  )
}

/** By kind of edge; undefined where the text names none. */
function drawnBy(text: string, predicates: readonly string[]): Float64Array | undefined {
  const stems = parseSearch(text)?.stems
  if (stems === undefined) return undefined
  const named = predicates.map((predicate) => {
    const words = searchWords((predicate.split('.').at(-1) ?? '').replaceAll('_', ' '))
    return words.some(({ stem }) => stems.has(stem))
  })
  return named.some(Boolean) ? Float64Array.from(named, (is) => (is ? DRAWN : 1)) : undefined
}

/** Places of the highest scores above 0, ties by place. Most scores are lower than all that are kept. */
function highest(scores: Float64Array, most: number): readonly number[] {
  const kept: number[] = []
  const scoreAt = (at: number) => scores[kept[at] ?? -1] ?? 0
  let least = 0
  for (const [place, score] of scores.entries()) {
    if (score <= least) continue
    let at = kept.length
    while (at > 0 && scoreAt(at - 1) < score) at -= 1
    kept.splice(at, 0, place)
    if (kept.length > most) kept.pop()
    if (kept.length === most) least = scoreAt(most - 1)
  }
  return kept
}

const MOST_CHARACTERS = 4_000
/** Words of a question that name a relation or a type; the last ones, which stand next to the names. */
const MOST_WORDS = 8

/** What the relations named in the text lead to from the seeds, in the order in which it was put. */
export function followRelationsFrom(
  db: DatabaseSync,
  graph: LoadedGraph,
  { seeds, text, limit }: FollowQuery,
): readonly SearchHit[] {
  const words = relationWords(text, graph)
  if (!words.some(({ kinds }) => kinds.size > 0)) return []
  const find = db.prepare('SELECT node FROM entities WHERE entity_id = ? AND hash IS NOT NULL')
  const places = seeds.flatMap((entity_id) => {
    const row = find.get(entity_id)
    const place = row === undefined ? undefined : nodePosition(graph.nodes, Number(row.node))
    return place === undefined ? [] : [place]
  })
  const found = followRelations(graph, places, words).slice(0, limit)
  return scoredHits(
    db,
    found.map((place) => ({ node: graph.nodes[place] ?? 0, score: 1 })),
  )
}

/** In the order of the text. A predicate or type of several words is named where all of them are, by its last. */
function relationWords(text: string, { predicates, typeNames }: LoadedGraph): readonly RelationWord[] {
  const stems = stemsOf(text.slice(0, MOST_CHARACTERS))
  const kinds = namedBy(
    stems,
    predicates.map((predicate) => predicate.split('.').at(-1) ?? ''),
  )
  const types = namedBy(stems, typeNames)
  const nothing: ReadonlySet<number> = new Set()
  return stems
    .flatMap((stem) =>
      kinds.has(stem) || types.has(stem)
        ? [{ kinds: kinds.get(stem) ?? nothing, types: types.get(stem) ?? nothing }]
        : [],
    )
    .slice(-MOST_WORDS)
}

/** Places of the names that are in a text, by their last word. */
function namedBy(stems: readonly string[], names: readonly string[]): ReadonlyMap<string, ReadonlySet<number>> {
  const said = new Set(stems)
  const named = new Map<string, Set<number>>()
  for (const [at, name] of names.entries()) {
    const words = stemsOf(name.replaceAll(/[_-]/g, ' '))
    const last = words.at(-1)
    if (last === undefined || !words.every((word) => said.has(word))) continue
    named.set(last, (named.get(last) ?? new Set()).add(at))
  }
  return named
}

function stemsOf(text: string): readonly string[] {
  return searchWords(text).flatMap(({ stem, start, end }) =>
    isStopWord(plainWord(text.slice(start, end))) ? [] : [stem],
  )
}
