import type { DatabaseSync } from 'node:sqlite'
import type { TypedGraph } from '../../shared/graph/follow-relations.ts'
import { buildAdjacency } from '../../shared/graph/page-rank.ts'
import { isDerived, MAY_MENTION, MENTIONS, WORD_FOR } from '../../shared/graph/triple.ts'
import { objectNumber } from './entity-rows.ts'
import { allLinks } from './link-reader.ts'

/** The entity graph in memory: about 16 MB for 100,000 entities and 1,000,000 edges. */
export interface LoadedGraph extends TypedGraph {
  /** The node each number stands for, ascending. */
  readonly nodes: Uint32Array
  /** The predicate of each kind of edge, those of mentions last; what comes after MOST_KINDS is of kind 0, which has none. */
  readonly predicates: readonly string[]
  /** Of each predicate the words people use for it: its last segment, and what was put as a word for it. */
  readonly predicateWords: readonly (readonly string[])[]
  /** The type of each number in `types`; what comes after MOST_KINDS is of type 0, which has no name. */
  readonly typeNames: readonly string[]
}

const MOST_KINDS = 65_536

/**
 * Every edge both ends of which are entities, and those that texts make (`texts`: how many there are). One row a node and
 * predicate: a list of numbers as text is read several times faster than a row an edge.
 */
export function loadGraph(db: DatabaseSync, texts: number): LoadedGraph {
  const { nodes, types, typeNames } = nodesOf(db)
  const { kindOf, predicates } = kindsOf(db)
  const links = linksByPlace(db, nodes, texts)
  const most = Number(db.prepare('SELECT count(*) AS n FROM edges').get()?.n ?? 0) + links.length / 3
  const edges = { from: new Uint32Array(most), to: new Uint32Array(most), kinds: new Uint16Array(most) }
  let kept = 0
  const keep = (from: number, to: number, kind: number): void => {
    edges.from[kept] = from
    edges.to[kept] = to
    edges.kinds[kept] = kind
    kept += 1
  }
  keepStated(db, nodes, (from, to, predicate) => keep(from, to, kindOf.get(predicate) ?? 0))
  for (let at = 0; at < links.length; at += 3) {
    keep(links[at] ?? 0, links[at + 1] ?? 0, predicates.length + (links[at + 2] ?? 0))
  }
  const { from, to, kinds } = edges
  const trimmed = { from: from.subarray(0, kept), to: to.subarray(0, kept), kinds: kinds.subarray(0, kept) }
  const named = [...predicates, MENTIONS, MAY_MENTION]
  const predicateWords = named.map((predicate) => wordsFor(db, predicate))
  return {
    nodes,
    types,
    typeNames,
    predicates: named,
    predicateWords,
    adjacency: buildAdjacency(nodes.length, trimmed),
  }
}

/** A mention is no relation: no word of a question names it. */
function wordsFor(db: DatabaseSync, predicate: string): readonly string[] {
  if (isDerived(predicate)) return []
  const put = db
    .prepare(
      `SELECT n.name FROM predicates p JOIN stated s USING (predicate) JOIN names n USING (node)
       WHERE p.name = ? AND s.object = ? AND n.alias = 3 ORDER BY n.name`,
    )
    .all(WORD_FOR, objectNumber(predicate))
  return [predicate.split('.').at(-1) ?? '', ...put.map(({ name }) => String(name))]
}

function keepStated(
  db: DatabaseSync,
  nodes: Uint32Array,
  keep: (from: number, to: number, predicate: number) => void,
): void {
  const rows = db
    .prepare('SELECT src, predicate, group_concat(dst) AS targets FROM edges GROUP BY src, predicate')
    .iterate()
  for (const { src, predicate, targets } of rows) {
    const source = nodePosition(nodes, Number(src))
    for (const target of String(targets).split(',')) {
      const place = nodePosition(nodes, Number(target))
      if (place !== undefined && source !== undefined) keep(source, place, Number(predicate))
    }
  }
}

/** Source, target and 0 for MENTIONS or 1 for MAY_MENTION, one after the other: objects would be most of the memory. */
function linksByPlace(db: DatabaseSync, nodes: Uint32Array, texts: number): readonly number[] {
  const links: number[] = []
  for (const { src, dst, sure } of allLinks(db, texts)) {
    const [from, to] = [nodePosition(nodes, src), nodePosition(nodes, dst)]
    if (from !== undefined && to !== undefined) links.push(from, to, sure ? 0 : 1)
  }
  return links
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
  const rows = db.prepare('SELECT predicate, name FROM predicates ORDER BY predicate LIMIT ?').all(MOST_KINDS - 3)
  return {
    kindOf: new Map(rows.map(({ predicate }, at) => [Number(predicate), at + 1])),
    predicates: ['', ...rows.map(({ name }) => String(name))],
  }
}
