/**
 * An undirected multigraph in compressed rows: the neighbours of node n are targets[offsets[n] .. offsets[n + 1]), those
 * of one kind of edge side by side. Two edges between the same nodes count twice, a loop once at each end. 14 bytes an
 * edge and 4 a node.
 */
export interface Adjacency {
  readonly nodes: number
  readonly offsets: Uint32Array
  readonly targets: Uint32Array
  /** Of each target: the kind of edge that leads to it. */
  readonly kinds: Uint16Array
  /** Of each target: 1 where the edge is the node's own, 0 where it is the target's. */
  readonly own: Uint8Array
}

/** Edges as pairs of node numbers below `nodes`, each of a kind. */
interface Edges {
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly kinds: Uint16Array
}

/** Two passes over the edges: count, place. They are placed kind by kind. */
export function buildAdjacency(nodes: number, { from, to, kinds }: Edges): Adjacency {
  const offsets = new Uint32Array(nodes + 1)
  for (let i = 0; i < from.length; i += 1) {
    offsets[numberAt(from, i) + 1] = numberAt(offsets, numberAt(from, i) + 1) + 1
    offsets[numberAt(to, i) + 1] = numberAt(offsets, numberAt(to, i) + 1) + 1
  }
  for (let n = 0; n < nodes; n += 1) offsets[n + 1] = numberAt(offsets, n + 1) + numberAt(offsets, n)
  const next = offsets.slice()
  const ends = from.length * 2
  const [targets, kindsOf, own] = [new Uint32Array(ends), new Uint16Array(ends), new Uint8Array(ends)]
  const place = (node: number, other: number, kind: number, isOwn: 0 | 1): void => {
    const at = numberAt(next, node)
    targets[at] = other
    kindsOf[at] = kind
    own[at] = isOwn
    next[node] = numberAt(next, node) + 1
  }
  for (const i of byKind(kinds)) {
    place(numberAt(from, i), numberAt(to, i), numberAt(kinds, i), 1)
    place(numberAt(to, i), numberAt(from, i), numberAt(kinds, i), 0)
  }
  return { nodes, offsets, targets, kinds: kindsOf, own }
}

/** Numbers of the edges, kind by kind. */
function byKind(kinds: Uint16Array): Uint32Array {
  const starts = new Uint32Array(kinds.reduce((most, kind) => Math.max(most, kind), 0) + 2)
  for (const kind of kinds) starts[kind + 1] = numberAt(starts, kind + 1) + 1
  for (let kind = 1; kind < starts.length; kind += 1) starts[kind] = numberAt(starts, kind) + numberAt(starts, kind - 1)
  const order = new Uint32Array(kinds.length)
  for (const [i, kind] of kinds.entries()) {
    order[numberAt(starts, kind)] = i
    starts[kind] = numberAt(starts, kind) + 1
  }
  return order
}

/** Every index used is inside: the type checker cannot know. */
function numberAt(numbers: Uint32Array | Uint16Array, index: number): number {
  return numbers[index] ?? 0
}

/** How often a walker goes on rather than back to a seed: two hops still count, ten do not. */
const GO_ON = 0.6
/** Mass that may still be under way when the walk is cut: ranks of the first hundred do not change below it. */
const RESIDUE = 1e-3
/** With GO_ON this many rounds leave less than RESIDUE under way: 0.6 ** 14. */
const MOST_ROUNDS = 14
/**
 * Less mass than this stays where it is: there are more such crumbs, far from the seeds, than of all else, and going on
 * from them exchanges one in two hundred of the first hundred. In small graphs there are none; with 100,000 nodes and
 * more a crumb is MOST_CRUMB.
 */
const MOST_CRUMB = 1e-5
const CRUMB = 1e-15

interface Seed {
  readonly node: number
  /** > 0; only proportions count. */
  readonly weight: number
}

/** How a walker chooses among the edges of a node. */
interface Choice {
  /** By kind of edge, > 0: he first chooses a kind by how drawn he is to it, then one of its edges. */
  readonly drawn?: Float64Array | undefined
  /**
   * He goes less to what has many edges (a hub is near everything, so being near it says little) and sooner along a
   * node's own edges than against those of others.
   */
  readonly damped?: boolean
}

/**
 * Personalised PageRank: where a walker is who starts at a seed, follows edges in both directions, and at each step
 * returns to a seed with 1 - GO_ON. Every edge of a node has the same chance, unless he is drawn or damped: what he looks
 * for is not lost among many edges of another kind. Scores sum to 1 (what is still under way when it ends is counted where
 * it is); a node without edges returns at once. Deterministic: rounds of a fixed order. Only nodes with more than a
 * crumb are gone on from: of a graph of 100,000 nodes few have.
 */
export function personalisedPageRank(graph: Adjacency, seeds: readonly Seed[], choice: Choice = {}): Float64Array {
  const { nodes } = graph
  const scores = new Float64Array(nodes)
  const start = seedParts(nodes, seeds)
  if (start === undefined) return scores
  const spread = spreadFor(choice)
  const crumb = Math.min(MOST_CRUMB, CRUMB * nodes ** 2)
  const walk = { graph, spread, start, scores, crumb }
  let moving: Moving = { mass: new Float64Array(nodes), at: [] }
  let arriving: Moving = { mass: new Float64Array(nodes), at: [] }
  for (const [node, part] of start) arrive(moving, node, part)
  for (let round = 0, left = 1; round < MOST_ROUNDS && left > RESIDUE; round += 1, left *= GO_ON) {
    moveOnce(walk, moving, arriving)
    ;[moving, arriving] = [arriving, { mass: moving.mass, at: [] }]
  }
  for (const node of moving.at) addTo(scores, node, moving.mass[node] ?? 0)
  return scores
}

interface Walk {
  readonly graph: Adjacency
  readonly spread: Spread
  /** Each seed's part of 1. */
  readonly start: ReadonlyMap<number, number>
  readonly scores: Float64Array
  readonly crumb: number
}

/** Mass by node, and the nodes that have any. */
interface Moving {
  readonly mass: Float64Array
  readonly at: number[]
}

/** Everybody moves once; the mass of `moving` is left empty, so that it can take the next arrivals. */
function moveOnce({ graph, spread, start, scores, crumb }: Walk, moving: Moving, arriving: Moving): void {
  let back = 0
  for (const node of moving.at) {
    const mass = moving.mass[node] ?? 0
    moving.mass[node] = 0
    if (mass < crumb) {
      addTo(scores, node, mass)
      continue
    }
    addTo(scores, node, mass * (1 - GO_ON))
    if (!spread(graph, node, mass * GO_ON, arriving)) back += mass * GO_ON
  }
  if (back > 0) for (const [node, part] of start) arrive(arriving, node, back * part)
}

/** Gives the mass of a node to its neighbours; false: it has none. */
type Spread = (graph: Adjacency, node: number, mass: number, arriving: Moving) => boolean

function spreadFor({ drawn, damped = false }: Choice): Spread {
  if (!damped) return drawn === undefined ? spreadEvenly : spreadBy(drawn)
  return spreadDamped(drawn)
}

/** In equal shares over the edges. */
const spreadEvenly: Spread = ({ offsets, targets }, node, mass, arriving) => {
  const from = offsets[node] ?? 0
  const to = offsets[node + 1] ?? 0
  const share = mass / (to - from)
  for (let i = from; i < to; i += 1) arrive(arriving, targets[i] ?? 0, share)
  return to > from
}

/** To kinds of edges by how much they draw, and in equal shares over the edges of a kind. */
function spreadBy(drawn: Float64Array): Spread {
  return ({ offsets, targets, kinds }, node, mass, arriving) => {
    const from = offsets[node] ?? 0
    const to = offsets[node + 1] ?? 0
    const drawnTo = (i: number) => drawn[kinds[i] ?? 0] ?? 0
    let total = 0
    for (let i = from; i < to; i = endOfKind(kinds, i, to)) total += drawnTo(i)
    let end = from
    let share = 0
    for (let i = from; i < to; i += 1) {
      if (i === end) {
        end = endOfKind(kinds, i, to)
        share = (mass * drawnTo(i)) / (total * (end - i))
      }
      arrive(arriving, targets[i] ?? 0, share)
    }
    return to > from
  }
}

/** What an edge counts that leads to a node of so many: of 16 edges half as much as of one. */
const DAMPING = -0.25
/** What an edge of one's own counts, where one of the other end has 1. */
const OWN = 2

/**
 * As above, and within a kind less to what has many edges and more along own ones; without `drawn` all edges are of one
 * kind.
 */
function spreadDamped(drawn: Float64Array | undefined): Spread {
  return (graph, node, mass, arriving) => {
    const { offsets, kinds } = graph
    const from = offsets[node] ?? 0
    const to = offsets[node + 1] ?? 0
    const endOf = (i: number) => (drawn === undefined ? to : endOfKind(kinds, i, to))
    const drawnTo = (i: number) => drawn?.[kinds[i] ?? 0] ?? 1
    let total = 0
    for (let i = from; i < to; i = endOf(i)) total += drawnTo(i)
    for (let i = from; i < to; i = endOf(i)) spreadPart(graph, i, endOf(i), (mass * drawnTo(i)) / total, arriving)
    return to > from
  }
}

/** Over the edges `from` to `to`. */
function spreadPart({ offsets, targets, own }: Adjacency, from: number, to: number, mass: number, arriving: Moving) {
  const weightOf = (i: number) => {
    const target = targets[i] ?? 0
    const edges = (offsets[target + 1] ?? 0) - (offsets[target] ?? 0)
    return edges ** DAMPING * (own[i] === 1 ? OWN : 1)
  }
  let all = 0
  for (let i = from; i < to; i += 1) all += weightOf(i)
  for (let i = from; i < to; i += 1) arrive(arriving, targets[i] ?? 0, (mass * weightOf(i)) / all)
}

function arrive({ mass, at }: Moving, node: number, more: number): void {
  const before = mass[node] ?? 0
  if (before === 0) at.push(node)
  mass[node] = before + more
}

/** Where the edges of the kind of edge `from` end. */
function endOfKind(kinds: Uint16Array, from: number, to: number): number {
  let end = from + 1
  while (end < to && kinds[end] === kinds[from]) end += 1
  return end
}

/** The seeds' parts of 1; undefined where there is no seed of the graph. */
function seedParts(nodes: number, seeds: readonly Seed[]) {
  const known = seeds.filter(({ node, weight }) => node >= 0 && node < nodes && weight > 0)
  const total = known.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return undefined
  const parts = new Map<number, number>()
  for (const { node, weight } of known) parts.set(node, (parts.get(node) ?? 0) + weight / total)
  return parts
}

function addTo(numbers: Float64Array, at: number, more: number): void {
  numbers[at] = (numbers[at] ?? 0) + more
}
