import type { WorkNode } from './work-graph.ts'

/** Nodes by a key of their neighbours. Entries go stale when a node changes; they are dropped when next seen. */
export interface Buckets {
  readonly keyOf: (node: WorkNode) => number
  readonly nodes: Map<number, Set<WorkNode>>
}

/** Files the node under its present key and answers everybody living there, itself included, oldest first. */
export function fileNode(buckets: Buckets, node: WorkNode): ReadonlySet<WorkNode> {
  const key = buckets.keyOf(node)
  const bucket = buckets.nodes.get(key) ?? new Set()
  for (const other of bucket) if (!other.alive || buckets.keyOf(other) !== key) bucket.delete(other)
  buckets.nodes.set(key, bucket.add(node))
  return bucket
}
