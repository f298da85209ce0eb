import { at, zeros } from './zeros.ts'

/** The edges on one side of a node, oldest first: two ends of a list through the columns of `Edges`. */
export interface EdgeList {
  first: number
  last: number
  size: number
  /** Sum of the hashes of the ports on the other side, 32 bits: equal sets have equal sums. */
  sum: number
}

/** Edges by number. Each stands in two lists: what comes after its start and what comes before its end. */
export interface Edges {
  /** Exit port of the node it starts at. */
  readonly from: number[]
  /** Entry port of the node it ends at. */
  readonly to: number[]
  readonly out: Links
  readonly in: Links
  /** How many numbers were ever given out, and the first one to give again (-1: none). */
  used: number
  free: number
}

interface Links {
  readonly next: number[]
  readonly previous: number[]
}

/** Room for so many at the same time. */
export function edgesFor(most: number): Edges {
  const links = (): Links => ({ next: zeros(most), previous: zeros(most) })
  return { from: zeros(most), to: zeros(most), out: links(), in: links(), used: 0, free: -1 }
}

export function link({ next, previous }: Links, list: EdgeList, edge: number, port: number): void {
  next[edge] = -1
  previous[edge] = list.last
  if (list.last >= 0) next[list.last] = edge
  else list.first = edge
  list.last = edge
  list.size++
  list.sum ^= mix(port + 1)
}

export function unlink({ next, previous }: Links, list: EdgeList, edge: number, port: number): void {
  const before = at(previous, edge)
  const after = at(next, edge)
  if (before >= 0) next[before] = after
  else list.first = after
  if (after >= 0) previous[after] = before
  else list.last = before
  list.size--
  list.sum ^= mix(port + 1)
}

/** The finaliser of MurmurHash3: spreads small numbers over 32 bits. */
function mix(value: number): number {
  let h = Math.imul(value, 0x9e3779b1) ^ 0x85ebca6b
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
