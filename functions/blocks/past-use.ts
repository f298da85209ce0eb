import { NOTHING } from '../../shared/runs/amounts.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { amountOf } from '../../shared/runs/event-cost.ts'
import { eventPlace } from '../../shared/runs/event-place.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { Caps } from '../../shared/runs/run-caps.ts'
import { allEvents } from '../runs/all-events.ts'
import type { BlockCall } from './block-call.ts'

/**
 * What is left of a block's caps after all it used before this invocation, in this epoch and earlier ones. Of an item:
 * what is left to all items of this epoch together, which count what they use in HEAD.
 */
export async function leftOfBlock(call: BlockCall, caps: Caps): Promise<Caps> {
  const { meter } = call
  meter.past ??= pastUse(call)
  const { tokens, usd_micros } = await meter.past
  const { cap_tokens, cap_usd_micros } = caps
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens: cap_tokens - tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros: cap_usd_micros - usd_micros }),
  }
}

/** The events know: they are read only where there can be something. */
export async function pastUse(call: BlockCall): Promise<Amount> {
  if (isFirst(call)) return NOTHING
  const { item, epoch } = call
  return blockUse(call, (event) => item === undefined || event.item === undefined || eventPlace(event).epoch < epoch)
}

/** What the events of a block tell of, or those of them that are meant. */
export async function blockUse(
  { world, run, block }: BlockCall,
  isMeant: (event: RunEvent) => boolean = () => true,
): Promise<Amount> {
  const events = await allEvents(world, run)
  return amountOf(events.filter((event) => event.block_id === block.id && isMeant(event)))
}

/** Before the first event of its lane nothing was used, but by judges before a person was asked. */
function isFirst({ raw_lane, item, dag, block, epoch, head }: BlockCall): boolean {
  const whole = dag.blocks[block.index]
  if (item === undefined) return raw_lane === null && whole?.approval === undefined
  const { attempt } = readOrdinal(head.lanes[String(block.index)] ?? 0)
  return epoch === 0 && attempt <= 1 && whole?.pre_gates.length === 0 && whole.approval === undefined
}
