import type { RunEvent } from './event.ts'
import type { Draft } from './fold-draft.ts'
import { readOrdinal } from './ordinal.ts'
import type { BlockFold } from './run-fold.ts'

const UNSEEN: BlockFold = { state: 'pending', attempt: 0, epoch: 0, gates: [], tokens_in: 0, tokens_out: 0 }

/** Changes the block an event names; an event of a run without a block changes none. */
export function changeBlock(draft: Draft, { block_id }: RunEvent, change: Partial<BlockFold>): void {
  if (block_id === undefined) return
  const { due_at: _, ...block } = draft.blocks.get(block_id) ?? UNSEEN
  draft.blocks.set(block_id, { ...block, ...change })
}

/** The block at the attempt of this event: what belonged to an earlier attempt is forgotten, what it cost is not. */
export function enterAttempt(draft: Draft, event: RunEvent): BlockFold {
  const { epoch, attempt } = placeOf(event)
  const block = draft.blocks.get(event.block_id ?? '') ?? UNSEEN
  if (epoch < block.epoch || (epoch === block.epoch && attempt <= block.attempt)) return block
  const { tokens_in, tokens_out, usd_micros, state } = block
  const spent = { tokens_in, tokens_out, ...(usd_micros === undefined ? {} : { usd_micros }) }
  const since = epoch === block.epoch && block.started_at !== undefined ? { started_at: block.started_at } : {}
  const entered: BlockFold = { state, attempt, epoch, gates: [], ...since, ...spent }
  if (event.block_id !== undefined) draft.blocks.set(event.block_id, entered)
  return entered
}

/** Epoch and attempt stand in the event's id, `<lane>/<ordinal>/<i>`. */
export function placeOf({ id, attempt }: RunEvent): { readonly epoch: number; readonly attempt: number } {
  const place = readOrdinal(Number(id.split('/')[1]))
  return { epoch: place.epoch, attempt: attempt ?? place.attempt }
}
