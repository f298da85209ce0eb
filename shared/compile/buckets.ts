import type { WorkNode } from './work-graph.ts'

/** Nodes by a key of their neighbours, oldest first. Entries go stale when a node changes; they are dropped when next seen. */
export interface Buckets {
  readonly keyOf: (node: WorkNode) => number
  readonly nodes: Map<number, WorkNode[]>
}

/** Files the node under its present key and answers everybody living there, itself included. */
export function fileNode(buckets: Buckets, node: WorkNode): readonly WorkNode[] {
  const key = buckets.keyOf(node)
  const bucket = buckets.nodes.get(key)
  if (bucket === undefined) {
    const filed = [node]
    buckets.nodes.set(key, filed)
    return filed
  }
  let kept = 0
  let isFiled = false
  for (const other of bucket) {
    if (!other.alive || buckets.keyOf(other) !== key) continue
    isFiled ||= other === node
    bucket[kept++] = other
  }
  bucket.length = kept
  if (!isFiled) bucket.push(node)
  return bucket
}
