import type { DatabaseSync } from 'node:sqlite'
import type { TypedGraph } from '../../shared/graph/follow-relations.ts'
import { buildAdjacency } from '../../shared/graph/page-rank.ts'

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
export function nodePosition(nodes: Uint32Array, node: number): number | undefined {
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
