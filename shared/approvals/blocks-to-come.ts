import { withBlocksAfter } from '../dag/blocks-after.ts'
import type { Block, Dag } from '../dag/dag.ts'
import type { ApprovalItem } from '../runs/run-items.ts'

/** What the rules of the inbox look at of a question. */
export type Question = Pick<ApprovalItem, 'block_id' | 'about' | 'gates' | 'raise' | 'on_timeout' | 'edit'>

/**
 * What a yes lets begin, in document order: the block itself, but not where its finished work is asked about, and what
 * comes after it, as far as `hasEnded` does not say that it is over.
 */
export function blocksToCome(
  dag: Pick<Dag, 'blocks'>,
  { block_id, about }: Pick<Question, 'block_id' | 'about'>,
  hasEnded: (id: string) => boolean,
): readonly Block[] {
  const after = new Set(withBlocksAfter(dag, block_id))
  return dag.blocks.filter(({ id }) => {
    if (id === block_id) return about !== 'post_gates'
    return after.has(id) && !hasEnded(id)
  })
}
