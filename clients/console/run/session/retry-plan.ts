/** What a retry is planned with: the document's order, and how each block of the earlier run ended. */
interface RetryParts {
  readonly blocks: readonly { readonly id: string; readonly upstream: readonly string[] }[]
  readonly completed: ReadonlySet<string>
  /** It and all that depend on it begin again. */
  readonly from?: string | undefined
}

export interface RetryPlan {
  readonly again: readonly string[]
  /** Taken over where definition and inputs are unchanged: the server compares their hashes when it comes to them. */
  readonly kept: readonly string[]
}

/** Which blocks of a retry without changes begin again, in document order: what did not complete, and all behind it. */
export function planRetry({ blocks, completed, from }: RetryParts): RetryPlan {
  const open = new Set(blocks.flatMap(({ id }) => (completed.has(id) && id !== from ? [] : [id])))
  const after = Map.groupBy(
    blocks.flatMap(({ id, upstream }) => upstream.map((source) => ({ source, id }))),
    ({ source }) => source,
  )
  const queue = [...open]
  for (const id of queue) {
    for (const { id: next } of after.get(id) ?? []) {
      if (open.has(next)) continue
      open.add(next)
      queue.push(next)
    }
  }
  const ids = blocks.map(({ id }) => id)
  return { again: ids.filter((id) => open.has(id)), kept: ids.filter((id) => !open.has(id)) }
}
