import type { RunEvent, UsedByCalls } from './event.ts'
import { costOf } from './event-cost.ts'
import { changeBlock } from './fold-block.ts'
import type { Draft } from './fold-draft.ts'
import type { RunFold } from './run-fold.ts'
import { unpricedTokens } from './spent-by-calls.ts'

/** What an attempt cost is the block's and the run's, whatever became of it. */
export function foldCost(draft: Draft, event: RunEvent): void {
  const cost = costOf(event)
  if (cost === undefined) return
  const { tokens_in, tokens_out } = cost
  const block = draft.blocks.get(event.block_id ?? '')
  changeBlock(draft, event, {
    tokens_in: (block?.tokens_in ?? 0) + tokens_in,
    tokens_out: (block?.tokens_out ?? 0) + tokens_out,
    ...priceWith(block, cost),
  })
  const { run } = draft
  draft.run = { ...run, tokens: run.tokens + tokens_in + tokens_out, ...priceWith(run, cost) }
}

type Price = Pick<RunFold, 'usd_micros' | 'unpriced_tokens'>

function priceWith(before: Price | undefined, cost: UsedByCalls): Price {
  const unpriced = unpricedTokens(cost)
  return {
    ...(cost.usd_micros === undefined ? {} : { usd_micros: (before?.usd_micros ?? 0) + cost.usd_micros }),
    ...(unpriced === 0 ? {} : { unpriced_tokens: (before?.unpriced_tokens ?? 0) + unpriced }),
  }
}
