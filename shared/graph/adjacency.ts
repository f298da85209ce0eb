/**
 * An undirected multigraph in compressed rows: the neighbours of node n are targets[offsets[n] .. offsets[n + 1]), those
 * of one kind of edge side by side. Two edges between the same nodes count twice, a loop once at each end. 12 bytes an
 * edge and 4 a node.
 */
export interface Adjacency {
  readonly nodes: number
  readonly offsets: Uint32Array
  readonly targets: Uint32Array
  /** Of each target: the kind of edge that leads to it. */
  readonly kinds: Uint16Array
}

/** Edges as pairs of node numbers below `nodes`, each of a kind. */
export interface Edges {
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly kinds: Uint16Array
}

/** Two passes over the edges: count, place. They are placed kind by kind. */
export function buildAdjacency(nodes: number, { from, to, kinds }: Edges): Adjacency {
  const offsets = new Uint32Array(nodes + 1)
  for (let i = 0; i < from.length; i += 1) {
    offsets[at(from, i) + 1] = at(offsets, at(from, i) + 1) + 1
    offsets[at(to, i) + 1] = at(offsets, at(to, i) + 1) + 1
  }
  for (let n = 0; n < nodes; n += 1) offsets[n + 1] = at(offsets, n + 1) + at(offsets, n)
  const next = offsets.slice()
  const built = { nodes, offsets, targets: new Uint32Array(from.length * 2), kinds: new Uint16Array(from.length * 2) }
  const place = (node: number, other: number, kind: number): void => {
    built.targets[at(next, node)] = other
    built.kinds[at(next, node)] = kind
    next[node] = at(next, node) + 1
  }
  for (const i of byKind(kinds)) {
    place(at(from, i), at(to, i), at(kinds, i))
    place(at(to, i), at(from, i), at(kinds, i))
  }
  return built
}

/** Numbers of the edges, kind by kind. */
function byKind(kinds: Uint16Array): Uint32Array {
  const starts = new Uint32Array(kinds.reduce((most, kind) => Math.max(most, kind), 0) + 2)
  for (const kind of kinds) starts[kind + 1] = at(starts, kind + 1) + 1
  for (let kind = 1; kind < starts.length; kind += 1) starts[kind] = at(starts, kind) + at(starts, kind - 1)
  const order = new Uint32Array(kinds.length)
  for (const [i, kind] of kinds.entries()) {
    order[at(starts, kind)] = i
    starts[kind] = at(starts, kind) + 1
  }
  return order
}

/** Every index used is inside: the type checker cannot know. */
function at(numbers: Uint32Array | Uint16Array, index: number): number {
  return numbers[index] ?? 0
}
