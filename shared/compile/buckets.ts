import type { WorkNode } from './work-graph.ts'
import { at, zeros } from './zeros.ts'

/**
 * Nodes by a key of their neighbours, oldest first: a table of lists of entries. Entries go stale when a node changes;
 * they are dropped when next seen.
 */
export interface Buckets {
  readonly keyOf: (node: WorkNode) => number
  /** By the last bits of a key, the first entry there. Entries are numbered from 1; 0 is none. */
  readonly first: number[]
  /** By entry. */
  readonly next: number[]
  readonly keys: number[]
  readonly nodes: (WorkNode | undefined)[]
}

/** A table that is quick for about so many nodes. */
export function bucketsFor(nodes: number, keyOf: (node: WorkNode) => number): Buckets {
  const places = 1 << (32 - Math.clz32(nodes))
  return { keyOf, first: zeros(places), next: [0], keys: [0], nodes: [undefined] }
}

/** Files the node under its present key, behind those living there already. Answers how many do, itself included. */
export function fileNode(buckets: Buckets, node: WorkNode): number {
  const { first, next, keys, nodes } = buckets
  const key = buckets.keyOf(node)
  let count = 0
  let last = 0
  let isFiled = false
  for (let entry = at(first, placeOf(buckets, key)); entry > 0; entry = next[entry] ?? 0) {
    if (keys[entry] === key) {
      if (isStale(buckets, entry)) {
        chain(buckets, key, last, next[entry] ?? 0)
        continue
      }
      if (nodes[entry] === node) isFiled = true
      count++
    }
    last = entry
  }
  if (isFiled) return count
  chain(buckets, key, last, nodes.length)
  nodes.push(node)
  keys.push(key)
  next.push(0)
  return count + 1
}

/** Everybody living where the node has just been filed. */
export function livingWith(buckets: Buckets, node: WorkNode): readonly WorkNode[] {
  const { first, next, keys, nodes } = buckets
  const key = buckets.keyOf(node)
  const living: WorkNode[] = []
  for (let entry = at(first, placeOf(buckets, key)); entry > 0; entry = next[entry] ?? 0) {
    const other = nodes[entry]
    if (keys[entry] === key && other !== undefined) living.push(other)
  }
  return living
}

function placeOf({ first }: Buckets, key: number): number {
  return key & (first.length - 1)
}

function isStale({ keyOf, keys, nodes }: Buckets, entry: number): boolean {
  const node = nodes[entry]
  return node === undefined || !node.alive || keyOf(node) !== keys[entry]
}

/** Lets an entry, or the place itself, lead to another entry. */
function chain(buckets: Buckets, key: number, last: number, entry: number): void {
  if (last === 0) buckets.first[placeOf(buckets, key)] = entry
  else buckets.next[last] = entry
}
