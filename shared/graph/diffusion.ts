import type { Adjacency } from './adjacency.ts'

/** How often a walker goes on rather than back to a seed: two hops still count, ten do not. */
const GO_ON = 0.6
/** Mass that may still be under way when the walk is cut: ranks of the first hundred do not change below it. */
const RESIDUE = 1e-3
/** With GO_ON this many rounds leave less than RESIDUE under way: 0.6 ** 14. */
const MOST_ROUNDS = 14

interface Seed {
  readonly node: number
  /** > 0; only proportions count. */
  readonly weight: number
}

/**
 * Personalised PageRank: where a walker is who starts at a seed, follows edges in both directions, and at each step
 * returns to a seed with 1 - GO_ON. Without `drawn` every edge of a node has the same chance; with it (by kind of edge,
 * > 0) the walker first chooses a kind by how drawn he is to it, then one of its edges, so that what he looks for is not
 * lost among many edges of another kind. Scores sum to 1 (what is still under way when it ends is counted where
 * it is); a node without edges returns at once. Deterministic: rounds of a fixed order. At most MOST_ROUNDS passes over
 * the edges, so 100,000 nodes and 1,000,000 edges take well under a second; few seeds in a large graph take less, as
 * only nodes that were reached are looked at.
 */
export function diffuse(graph: Adjacency, seeds: readonly Seed[], drawn?: Float64Array): Float64Array {
  const scores = new Float64Array(graph.nodes)
  const start = startOf(graph.nodes, seeds)
  if (start === undefined) return scores
  const spread = drawn === undefined ? spreadEvenly : spreadBy(sharesOf(graph, drawn))
  const walk = { graph, spread, start: start.parts, seeds: start.nodes, scores }
  let moving = start.parts.slice()
  let arriving = new Float64Array(graph.nodes)
  for (let round = 0, left = 1; round < MOST_ROUNDS && left > RESIDUE; round += 1, left *= GO_ON) {
    step(walk, moving, arriving)
    ;[moving, arriving] = [arriving, moving]
  }
  for (let node = 0; node < graph.nodes; node += 1) add(scores, node, moving[node] ?? 0)
  return scores
}

interface Walk {
  readonly graph: Adjacency
  readonly spread: Spread
  readonly start: Float64Array
  readonly seeds: readonly number[]
  readonly scores: Float64Array
}

/** Everybody moves once; `moving` is left empty, so that it can take the next arrivals. */
function step({ graph, spread, start, seeds, scores }: Walk, moving: Float64Array, arriving: Float64Array): void {
  let back = 0
  for (let node = 0; node < graph.nodes; node += 1) {
    const mass = moving[node] ?? 0
    if (mass === 0) continue
    moving[node] = 0
    add(scores, node, mass * (1 - GO_ON))
    if (!spread(graph, node, mass * GO_ON, arriving)) back += mass * GO_ON
  }
  if (back > 0) for (const node of seeds) add(arriving, node, back * (start[node] ?? 0))
}

/** Gives the mass of a node to its neighbours; false: it has none. */
type Spread = (graph: Adjacency, node: number, mass: number, arriving: Float64Array) => boolean

/** In equal shares over the edges. */
const spreadEvenly: Spread = ({ offsets, targets }, node, mass, arriving) => {
  const from = offsets[node] ?? 0
  const to = offsets[node + 1] ?? 0
  const share = mass / (to - from)
  for (let i = from; i < to; i += 1) add(arriving, targets[i] ?? 0, share)
  return to > from
}

/** By the share of each edge. */
function spreadBy(shares: Float64Array): Spread {
  return ({ offsets, targets }, node, mass, arriving) => {
    const from = offsets[node] ?? 0
    const to = offsets[node + 1] ?? 0
    for (let i = from; i < to; i += 1) add(arriving, targets[i] ?? 0, mass * (shares[i] ?? 0))
    return to > from
  }
}

/** Of each edge end: its part of its node's mass, by kind first. Once a walk: rounds look at an edge several times. */
function sharesOf({ nodes, offsets, kinds }: Adjacency, drawn: Float64Array): Float64Array {
  const shares = new Float64Array(kinds.length)
  const drawnTo = (kind: number | undefined) => drawn[kind ?? 0] ?? 0
  for (let node = 0; node < nodes; node += 1) {
    const from = offsets[node] ?? 0
    const to = offsets[node + 1] ?? 0
    let total = 0
    let end = from
    let share = 0
    for (let i = from; i < to; i += 1) {
      if (i === end) {
        end = endOfKind(kinds, i, to)
        share = drawnTo(kinds[i]) / (end - i)
        total += drawnTo(kinds[i])
      }
      shares[i] = share
    }
    for (let i = from; i < to; i += 1) shares[i] = (shares[i] ?? 0) / total
  }
  return shares
}

/** Where the edges of the kind of edge `from` end. */
function endOfKind(kinds: Uint16Array, from: number, to: number): number {
  let end = from + 1
  while (end < to && kinds[end] === kinds[from]) end += 1
  return end
}

/** The seeds' parts of 1; undefined where there is no seed of the graph. */
function startOf(nodes: number, seeds: readonly Seed[]) {
  const known = seeds.filter(({ node, weight }) => node >= 0 && node < nodes && weight > 0)
  const total = known.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return undefined
  const parts = new Float64Array(nodes)
  for (const { node, weight } of known) add(parts, node, weight / total)
  return { parts, nodes: [...new Set(known.map(({ node }) => node))] }
}

function add(numbers: Float64Array, at: number, more: number): void {
  numbers[at] = (numbers[at] ?? 0) + more
}
