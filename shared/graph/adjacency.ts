/**
 * An undirected multigraph in compressed rows: the neighbours of node n are targets[offsets[n] .. offsets[n + 1]). Two
 * edges between the same nodes count twice, a loop once at each end. 8 bytes an edge and 4 a node.
 */
export interface Adjacency {
  readonly nodes: number
  readonly offsets: Uint32Array
  readonly targets: Uint32Array
}

/** Two passes over the edges: count, place. Edges are pairs of node numbers below `nodes`. */
export function buildAdjacency(nodes: number, from: Uint32Array, to: Uint32Array): Adjacency {
  const offsets = new Uint32Array(nodes + 1)
  for (let i = 0; i < from.length; i += 1) {
    offsets[at(from, i) + 1] = at(offsets, at(from, i) + 1) + 1
    offsets[at(to, i) + 1] = at(offsets, at(to, i) + 1) + 1
  }
  for (let n = 0; n < nodes; n += 1) offsets[n + 1] = at(offsets, n + 1) + at(offsets, n)
  const next = offsets.slice()
  const targets = new Uint32Array(from.length * 2)
  const place = (node: number, other: number): void => {
    targets[at(next, node)] = other
    next[node] = at(next, node) + 1
  }
  for (let i = 0; i < from.length; i += 1) {
    place(at(from, i), at(to, i))
    place(at(to, i), at(from, i))
  }
  return { nodes, offsets, targets }
}

/** Every index used is inside: the type checker cannot know. */
function at(numbers: Uint32Array, index: number): number {
  return numbers[index] ?? 0
}
