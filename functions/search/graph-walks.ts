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
  const places = seedPlaces(db, graph, seeds)
  const drawn = text === undefined ? undefined : drawnBy(text, graph.predicateWords)
  const scores = personalisedPageRank(graph.adjacency, places, { drawn })
  return scoredHits(
    db,
    highest(scores, limit).map((place) => ({ node: graph.nodes[place] ?? 0, score: scores[place] ?? 0 })),
  )
}

interface SeedNode {
  readonly node: number
  readonly weight: number
}

/** Where a walk starts, as places of the graph; what is not in it is left out. */
export function seedPlaces(
  db: DatabaseSync,
  { nodes }: LoadedGraph,
  seeds: DiffusionQuery['seeds'],
  more: readonly SeedNode[] = [],
): readonly SeedNode[] {
  const find = db.prepare('SELECT node FROM entities WHERE entity_id = ? AND hash IS NOT NULL')
  const known = seeds.flatMap(({ entity_id, weight }) => {
    const row = find.get(entity_id)
    return row === undefined ? [] : [{ node: Number(row.node), weight }]
  })
  return [...known, ...more].flatMap(({ node, weight }) => {
    const place = nodePosition(nodes, node)
    return place === undefined ? [] : [{ node: place, weight }]
  })
}

/** By kind of edge; undefined where the text names none. */
export function drawnBy(text: string, predicateWords: LoadedGraph['predicateWords']): Float64Array | undefined {
  const stems = parseSearch(text)?.stems
  if (stems === undefined) return undefined
  const named = predicateWords.map((words) =>
    words.some((word) => searchWords(word.replaceAll('_', ' ')).some(({ stem }) => stems.has(stem))),
  )
  return named.some(Boolean) ? Float64Array.from(named, (is) => (is ? DRAWN : 1)) : undefined
}

/** Places of the highest scores above 0, ties by place. Most scores are lower than all that are kept. */
export function highest(scores: Float64Array, most: number): readonly number[] {
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
function relationWords(text: string, { predicateWords, typeNames }: LoadedGraph): readonly RelationWord[] {
  const stems = stemsOf(text.slice(0, MOST_CHARACTERS))
  const kinds = namedBy(stems, predicateWords)
  const types = namedBy(
    stems,
    typeNames.map((name) => [name]),
  )
  const nothing: ReadonlySet<number> = new Set()
  return stems
    .flatMap((stem) =>
      kinds.has(stem) || types.has(stem)
        ? [{ kinds: kinds.get(stem) ?? nothing, types: types.get(stem) ?? nothing }]
        : [],
    )
    .slice(-MOST_WORDS)
}

/** Places of what has one of its names in a text, by the last word of that. */
function namedBy(
  stems: readonly string[],
  names: readonly (readonly string[])[],
): ReadonlyMap<string, ReadonlySet<number>> {
  const said = new Set(stems)
  const named = new Map<string, Set<number>>()
  for (const [at, name] of names.flatMap((all, place) => all.map((one) => [place, one] as const))) {
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
