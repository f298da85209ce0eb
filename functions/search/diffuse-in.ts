import type { DatabaseSync } from 'node:sqlite'
import { type Adjacency, buildAdjacency } from '../../shared/graph/adjacency.ts'
import { diffuse } from '../../shared/graph/diffusion.ts'
import type { DiffusionQuery, SearchHit } from '../../shared/graph/search-index.ts'
import { scoredHits } from './hits.ts'

/** The entity graph in memory: about 12 MB for 100,000 entities and 1,000,000 edges. */
export interface LoadedGraph {
  readonly adjacency: Adjacency
  /** The node each number stands for, ascending. */
  readonly nodes: Uint32Array
}

/**
 * Every edge both ends of which are entities. One row a node: a list of numbers as text is read several times faster
 * than a row an edge.
 */
export function loadGraph(db: DatabaseSync): LoadedGraph {
  const nodes = Uint32Array.from(
    db.prepare('SELECT node FROM entities WHERE hash IS NOT NULL ORDER BY node').all(),
    ({ node }) => Number(node),
  )
  const edges = Number(db.prepare('SELECT count(*) AS n FROM edges').get()?.n ?? 0)
  const [from, to] = [new Uint32Array(edges), new Uint32Array(edges)]
  let kept = 0
  const rows = db.prepare('SELECT src, group_concat(dst) AS targets FROM edges GROUP BY src').iterate()
  for (const { src, targets } of rows) {
    const source = placeOf(nodes, Number(src))
    for (const target of String(targets).split(',')) {
      const place = placeOf(nodes, Number(target))
      if (place === undefined || source === undefined) continue
      from[kept] = source
      to[kept] = place
      kept += 1
    }
  }
  return { nodes, adjacency: buildAdjacency(nodes.length, from.subarray(0, kept), to.subarray(0, kept)) }
}

/** Entities a walker from the seeds meets most; ties by number, which is the order in which they were put. */
export function diffuseIn(
  db: DatabaseSync,
  graph: LoadedGraph,
  { seeds, limit }: DiffusionQuery,
): readonly SearchHit[] {
  const find = db.prepare('SELECT node FROM entities WHERE entity_id = ? AND hash IS NOT NULL')
  const places = seeds.flatMap(({ entity_id, weight }) => {
    const row = find.get(entity_id)
    const node = row === undefined ? undefined : placeOf(graph.nodes, Number(row.node))
    return node === undefined ? [] : [{ node, weight }]
  })
  const scores = diffuse(graph.adjacency, places)
  return scoredHits(
    db,
    highest(scores, limit).map((place) => ({ node: graph.nodes[place] ?? 0, score: scores[place] ?? 0 })),
  )
}

/** Places of the highest scores above 0. Numbers alone are sorted first, several times faster than places by score. */
function highest(scores: Float64Array, most: number): readonly number[] {
  const least = scores.toSorted()[Math.max(0, scores.length - most)] ?? 0
  const met: number[] = []
  for (let place = 0; place < scores.length; place += 1) {
    const score = scores[place] ?? 0
    if (score > 0 && score >= least) met.push(place)
  }
  return met.toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b).slice(0, most)
}

/** By halves. */
function placeOf(nodes: Uint32Array, node: number): number | undefined {
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
