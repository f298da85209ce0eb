import type { RunEvent } from './event.ts'
import { costOf } from './event-cost.ts'
import { changeBlock } from './fold-block.ts'
import type { Draft } from './fold-draft.ts'

/** What an attempt cost is the block's and the run's, whatever became of it. */
export function foldCost(draft: Draft, event: RunEvent): void {
  const cost = costOf(event)
  if (cost === undefined) return
  const { tokens_in, tokens_out, usd_micros } = cost
  const block = draft.blocks.get(event.block_id ?? '')
  changeBlock(draft, event, {
    tokens_in: (block?.tokens_in ?? 0) + tokens_in,
    tokens_out: (block?.tokens_out ?? 0) + tokens_out,
    ...(usd_micros === undefined ? {} : { usd_micros: (block?.usd_micros ?? 0) + usd_micros }),
  })
  draft.run = {
    ...draft.run,
    tokens: draft.run.tokens + tokens_in + tokens_out,
    ...(usd_micros === undefined ? {} : { usd_micros: (draft.run.usd_micros ?? 0) + usd_micros }),
  }
}
