import type { RunEvent } from './event.ts'
import { eventPlace } from './event-place.ts'
import type { Draft } from './fold-draft.ts'
import { NO_TRY } from './retry-policy.ts'
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
  const { epoch, attempt } = eventPlace(event)
  const block = draft.blocks.get(event.block_id ?? '') ?? UNSEEN
  if (epoch < block.epoch || (epoch === block.epoch && attempt <= block.attempt)) return block
  const { state } = block
  const entered: BlockFold = { state, attempt, epoch, gates: [], ...ofEpoch(block, epoch), ...spentBy(block) }
  if (event.block_id !== undefined) draft.blocks.set(event.block_id, entered)
  return entered
}

/** What stays from attempt to attempt of an epoch. */
function ofEpoch({ epoch, started_at, untried }: BlockFold, now: number): Partial<BlockFold> {
  if (epoch !== now) return {}
  return { ...(started_at === undefined ? {} : { started_at }), ...(untried === undefined ? {} : { untried }) }
}

/** What an attempt that failed for this reason adds to those that were no try. */
export function countTry(draft: Draft, { block_id = '' }: RunEvent, code: string): Pick<BlockFold, 'untried'> {
  return NO_TRY.has(code) ? { untried: (draft.blocks.get(block_id)?.untried ?? 0) + 1 } : {}
}

/** A bounce puts a block back to its beginning; what it has cost stays. */
export function resetBlock(draft: Draft, id: string, epoch: number): void {
  const block = draft.blocks.get(id) ?? UNSEEN
  if (epoch > block.epoch) draft.blocks.set(id, { state: 'pending', attempt: 0, epoch, gates: [], ...spentBy(block) })
}

function spentBy({
  tokens_in,
  tokens_out,
  usd_micros,
  unpriced_tokens,
}: BlockFold): Pick<BlockFold, 'tokens_in' | 'tokens_out' | 'usd_micros' | 'unpriced_tokens'> {
  return {
    tokens_in,
    tokens_out,
    ...(usd_micros === undefined ? {} : { usd_micros }),
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }),
  }
}
