import type { DatabaseSync } from 'node:sqlite'
import { followRelations, type RelationWord, type TypedGraph } from '../../shared/graph/follow-relations.ts'
import { buildAdjacency, personalisedPageRank } from '../../shared/graph/page-rank.ts'
import type { DiffusionQuery, FollowQuery, SearchHit } from '../../shared/graph/search-index.ts'
import { isStopWord, plainWord, searchWords } from '../../shared/graph/search-words.ts'
import { parseSearch } from './passage-query.ts'
import { scoredHits } from './search.ts'

/** The entity graph in memory: about 16 MB for 100,000 entities and 1,000,000 edges. */
export interface LoadedGraph extends TypedGraph {
  /** The node each number stands for, ascending. */
  readonly nodes: Uint32Array
  /** The predicate of each kind of edge; what comes after MOST_KINDS is of kind 0, which has none. */
  readonly predicates: readonly string[]
  /** The type of each number in `types`; what comes after MOST_KINDS is of type 0, which has no name. */
  readonly typeNames: readonly string[]
}

const MOST_KINDS = 65_536

/**
 * Every edge both ends of which are entities. One row a node and predicate: a list of numbers as text is read several
 * times faster than a row an edge.
 */
export function loadGraph(db: DatabaseSync): LoadedGraph {
  const { nodes, types, typeNames } = nodesOf(db)
  const { kindOf, predicates } = kindsOf(db)
  const most = Number(db.prepare('SELECT count(*) AS n FROM edges').get()?.n ?? 0)
  const [from, to, kinds] = [new Uint32Array(most), new Uint32Array(most), new Uint16Array(most)]
  let kept = 0
  const rows = db
    .prepare('SELECT src, predicate, group_concat(dst) AS targets FROM edges GROUP BY src, predicate')
    .iterate()
  for (const { src, predicate, targets } of rows) {
    const source = nodePosition(nodes, Number(src))
    for (const target of String(targets).split(',')) {
      const place = nodePosition(nodes, Number(target))
      if (place === undefined || source === undefined) continue
      from[kept] = source
      to[kept] = place
      kinds[kept] = kindOf.get(Number(predicate)) ?? 0
      kept += 1
    }
  }
  const edges = { from: from.subarray(0, kept), to: to.subarray(0, kept), kinds: kinds.subarray(0, kept) }
  return { nodes, types, typeNames, predicates, adjacency: buildAdjacency(nodes.length, edges) }
}

function nodesOf(db: DatabaseSync): Pick<LoadedGraph, 'nodes' | 'types' | 'typeNames'> {
  const rows = db.prepare('SELECT node, type FROM entities WHERE hash IS NOT NULL ORDER BY node').all()
  const numbers = new Map([['', 0]])
  const types = Uint16Array.from(rows, ({ type }) => {
    const name = String(type ?? '').toLowerCase()
    const known = numbers.get(name) ?? (numbers.size < MOST_KINDS ? numbers.size : 0)
    if (known > 0) numbers.set(name, known)
    return known
  })
  return { nodes: Uint32Array.from(rows, ({ node }) => Number(node)), types, typeNames: [...numbers.keys()] }
}

/** The place of a node among those of the graph, by halves. */
function nodePosition(nodes: Uint32Array, node: number): number | undefined {
  let [low, high] = [0, nodes.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const seen = nodes[middle] ?? 0
    if (seen === node) return middle
    if (seen < node) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

function kindsOf(db: DatabaseSync) {
  const rows = db.prepare('SELECT predicate, name FROM predicates ORDER BY predicate LIMIT ?').all(MOST_KINDS - 1)
  return {
    kindOf: new Map(rows.map(({ predicate }, at) => [Number(predicate), at + 1])),
    predicates: ['', ...rows.map(({ name }) => String(name))],
  }
}

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
