import type { Adjacency } from './page-rank.ts'

/** A graph whose nodes are things of a type. */
export interface TypedGraph {
  readonly adjacency: Adjacency
  /** Of each node the number of its type. */
  readonly types: Uint16Array
}

/** A word of a question: the kinds of edge it names, and the types of thing. */
export interface RelationWord {
  readonly kinds: ReadonlySet<number>
  readonly types: ReadonlySet<number>
}

/** Edges of one path. */
const MOST_HOPS = 3

/** Edge ends looked at from one seed: what a hub of a hundred thousand edges takes is a millisecond. */
const MOST_LOOKS = 100_000

/**
 * Where the relations a question names lead from what it names. Its words say the way backward, `the capital of the
 * country that borders Haiti`: so they are taken from the last to the first, and each is a hop along an edge of its
 * kind (in either direction), says of which type the thing is that was reached, or is passed over. The paths that
 * explain most words are meant, and of the ends of those from several seeds the ones most seeds lead to. Ascending; no
 * seed is among them.
 */
export function followRelations(
  graph: TypedGraph,
  seeds: readonly number[],
  words: readonly RelationWord[],
): readonly number[] {
  const from = new Set(seeds)
  const ends = [...from].map((seed) => endsFrom(graph, seed, words))
  const explained = mostOf(ends.flat().map((end) => end.explained))
  const met = new Map<number, number>()
  for (const { node } of ends.flat().filter((end) => end.explained === explained && !from.has(end.node))) {
    met.set(node, (met.get(node) ?? 0) + 1)
  }
  const shared = mostOf([...met.values()])
  return [...met].flatMap(([node, times]) => (times === shared ? [node] : [])).toSorted((a, b) => a - b)
}

function mostOf(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0)
}

/** The best way to a node. */
interface PathEnd {
  readonly node: number
  /** Words that are hops or types of it. */
  readonly explained: number
  readonly hops: number
}

type PathEnds = Map<number, PathEnd>

/** Every node the words may lead to, each by the way that explains most, of those the shortest: no order of edges matters. */
function endsFrom(graph: TypedGraph, seed: number, words: readonly RelationWord[]): readonly PathEnd[] {
  let ends: PathEnds = new Map([[seed, { node: seed, explained: 0, hops: 0 }]])
  const room = { looks: MOST_LOOKS }
  for (const word of words.toReversed()) {
    const next: PathEnds = new Map(ends)
    for (const end of ends.values()) explain(graph, end, word, next, room)
    ends = next
  }
  return [...ends.values()].filter(({ hops }) => hops > 0)
}

/** What one word may say of where a way ends. */
function explain(graph: TypedGraph, end: PathEnd, word: RelationWord, next: PathEnds, room: { looks: number }): void {
  const isType = word.types.has(graph.types[end.node] ?? 0)
  if (isType) keepBest(next, { ...end, explained: end.explained + 1 })
  // `currency` is what leads on from a currency the question names; of one that was reached it says what it is.
  const leads = end.hops === 0 || (!isType && end.hops < MOST_HOPS)
  if (leads && word.kinds.size > 0) hopAlong(graph.adjacency, end, word, next, room)
}

function hopAlong(
  { offsets, targets, kinds }: Adjacency,
  end: PathEnd,
  word: RelationWord,
  next: PathEnds,
  room: { looks: number },
): void {
  const to = Math.min(offsets[end.node + 1] ?? 0, (offsets[end.node] ?? 0) + room.looks)
  for (let i = offsets[end.node] ?? 0; i < to; i += 1) {
    room.looks -= 1
    const node = targets[i] ?? 0
    if (word.kinds.has(kinds[i] ?? 0)) keepBest(next, { node, explained: end.explained + 1, hops: end.hops + 1 })
  }
}

/** What is where the walk began stays the seed: nothing leads back to it. */
function keepBest(ends: PathEnds, end: PathEnd): void {
  const before = ends.get(end.node)
  if (before?.hops === 0 && end.hops > 0) return
  const isBetter =
    before === undefined ||
    before.explained < end.explained ||
    (before.explained === end.explained && before.hops > end.hops)
  if (isBetter) ends.set(end.node, end)
}
