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

/** Every edge both ends of which are entities, and those that texts make (`texts`: how many there are). */
export function loadGraph(db: DatabaseSync, texts: number): LoadedGraph {
  const steps = loadInSteps(db, texts)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Rows read between two turns of others: some milliseconds. */
const ROWS_A_STEP = 5_000

/** The same with breaks between steps, in which others may read the file, but nobody may write to it. */
export function* loadInSteps(db: DatabaseSync, texts: number): Generator<void, LoadedGraph> {
  const { nodes, types, typeNames } = nodesOf(db)
  const { kindOf, predicates } = kindsOf(db)
  yield
  const placeOf = placesOf(nodes)
  const edges = edgeList()
  yield* addStated(db, (src, dst, predicate) => edges.add(placeOf(src), placeOf(dst), kindOf.get(predicate) ?? 0))
  let names = 0
  for (const { sources, nodes: bearers } of allLinks(db, texts)) {
    const kind = predicates.length + (bearers.length === 1 ? 0 : 1)
    for (const src of sources) for (const dst of bearers) edges.add(placeOf(src), placeOf(dst), kind)
    names += 1
    if (names % ROWS_A_STEP === 0) yield
  }
  yield
  const named = [...predicates, MENTIONS, MAY_MENTION]
  const predicateWords = named.map((predicate) => wordsFor(db, predicate))
  const adjacency = buildAdjacency(nodes.length, edges.all())
  return { nodes, types, typeNames, predicates: named, predicateWords, adjacency }
}

/** The place of each node among those of the graph; -1: it has none. A table: edges ask for it millions of times. */
function placesOf(nodes: Uint32Array): (node: number) => number {
  const places = new Int32Array((nodes.at(-1) ?? 0) + 1).fill(-1)
  for (let at = 0; at < nodes.length; at += 1) places[nodes[at] ?? 0] = at
  return (node) => places[node] ?? -1
}

/** Edges in arrays that grow by doubling: objects would be most of the memory. */
function edgeList() {
  let room = 1_024
  let kept = 0
  let [from, to, kinds] = [new Uint32Array(room), new Uint32Array(room), new Uint16Array(room)]
  const grow = (): void => {
    room *= 2
    const before = { from, to, kinds }
    ;[from, to, kinds] = [new Uint32Array(room), new Uint32Array(room), new Uint16Array(room)]
    from.set(before.from)
    to.set(before.to)
    kinds.set(before.kinds)
  }
  return {
    /** One that lacks an end is left out. */
    add(source: number, target: number, kind: number): void {
      if (source < 0 || target < 0) return
      if (kept === room) grow()
      from[kept] = source
      to[kept] = target
      kinds[kept] = kind
      kept += 1
    },
    all: () => ({ from: from.subarray(0, kept), to: to.subarray(0, kept), kinds: kinds.subarray(0, kept) }),
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

/** One row a node: a list of numbers as text is read several times faster than a row an edge. */
function* addStated(
  db: DatabaseSync,
  add: (src: number, dst: number, predicate: number) => void,
): Generator<void, void> {
  const rows = db
    .prepare('SELECT src, group_concat(predicate) AS kinds, group_concat(dst) AS targets FROM edges GROUP BY src')
    .iterate()
  let read = 0
  for (const { src, kinds, targets } of rows) {
    const predicates = String(kinds).split(',')
    for (const [at, target] of String(targets).split(',').entries()) {
      add(Number(src), Number(target), Number(predicates[at]))
    }
    read += 1
    if (read % ROWS_A_STEP === 0) yield
  }
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
