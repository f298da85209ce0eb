import type { Append } from '../../shared/runs/append.ts'
import { type LaneOwner, laneKey } from '../../shared/runs/lane-key.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'

/** Whose attempts a call is about: the block's, or one item's. */
export function ownerOf({ block, item }: Pick<BlockCall, 'block' | 'item'>): LaneOwner {
  return { block: block.index, ...(item === undefined ? {} : { item }) }
}

/** What every event of a call begins with. */
export function eventHead({ block, item }: Pick<BlockCall, 'block' | 'item'>): {
  readonly block_id: string
  readonly item?: number
} {
  return { block_id: block.id, ...(item === undefined ? {} : { item }) }
}

/** What every append of a call begins with: one of an item also asks that its block still goes on in this attempt. */
export function laneHead(call: BlockCall): Pick<Append, 'run' | 'lane' | 'item_of'> {
  const { run, block, item, epoch, head } = call
  const lane = laneKey(ownerOf(call))
  if (item === undefined) return { run, lane }
  const { attempt, leg } = readOrdinal(head.lanes[String(block.index)] ?? 0)
  const below = ordinal({ epoch, attempt, leg, phase: PHASE.completed })
  return { run, lane, item_of: { block: block.index, below } }
}
