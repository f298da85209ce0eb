import { blockCaps, type Caps } from '../../shared/runs/run-caps.ts'
import type { BlockCall } from './block-call.ts'

/** What holds for the calls of a block. */
export interface CallCaps {
  readonly run: Caps
  readonly block: Caps
  /** One of them is in dollars: prices must be known. */
  readonly in_usd: boolean
}

/** undefined: neither run nor block has a cap, and nothing is reserved. */
export function capsOf({ head, world, dag, block: { index } }: BlockCall): CallCaps | undefined {
  const { cap_tokens, cap_usd_micros } = head.budget
  const block = blockCaps(world.settings.safety, dag.blocks[index]?.budget)
  const in_usd = cap_usd_micros !== undefined || block.cap_usd_micros !== undefined
  if (!in_usd && cap_tokens === undefined && block.cap_tokens === undefined) return undefined
  const run = {
    ...(cap_tokens === undefined ? {} : { cap_tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros }),
  }
  return { run, block, in_usd }
}
