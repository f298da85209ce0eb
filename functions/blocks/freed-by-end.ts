import type { Append } from '../../shared/runs/append.ts'
import type { BlockCall } from './block-call.ts'
import { ownerOf } from './own-lane.ts'

/** What the append that ends an attempt frees: its place among what runs, and the lanes of a foreach block's items. */
export function freedByEnd(call: Pick<BlockCall, 'block' | 'item'>): Pick<Append, 'end' | 'drop_items'> {
  const { block, item } = call
  const items = block.foreach === undefined || item !== undefined ? {} : { drop_items: { block: block.index } }
  return { end: ownerOf(call), ...items }
}
