import type { Append } from '../../shared/runs/append.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { amountOf } from '../../shared/runs/event-cost.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockCall } from './block-call.ts'
import { capsOf } from './caps-of.ts'
import { eventHead } from './own-lane.ts'
import { settled } from './record-events.ts'
import { closeMeter, takeUntold } from './settle-meter.ts'

/** The end of an attempt with what its calls used, and what that frees. */
interface ToldUse {
  /** The call that was not made, if a cap was in the way; then the event, with what no other event tells of. */
  readonly events: readonly NewEvent[]
  readonly reserved: Amount
  readonly share: Pick<Append, 'share'>
}

/** Closes the meter: calls that come back later count nowhere. */
export function tellUse(call: BlockCall, attempt: number, event: NewEvent): ToldUse {
  const { meter } = call
  const reserved = closeMeter(meter)
  const spent = takeUntold(meter)
  // Only events that may say what was used come here.
  const told = spent === undefined ? event : ({ ...event, data: { ...event.data, spent } } as NewEvent)
  const { exceeded } = meter
  const refused: NewEvent[] =
    exceeded === undefined ? [] : [{ type: 'budget:exceeded', ...eventHead(call), attempt, data: exceeded }]
  return { events: [...refused, told], reserved, share: shareOf(call) }
}

/** The same as members of one append. */
export function tellAtOnce(
  call: BlockCall,
  attempt: number,
  event: NewEvent,
): Pick<Append, 'events' | 'settle' | 'share'> {
  const { events, reserved, share } = tellUse(call, attempt, event)
  return { events, ...settled(reserved, amountOf(events)), ...share }
}

/** The items of a block with a cap of its own count what they use together. */
export function shareOf(call: BlockCall): Pick<Append, 'share'> {
  if (call.item === undefined) return {}
  const { cap_tokens, cap_usd_micros } = capsOf(call)?.block ?? {}
  return cap_tokens === undefined && cap_usd_micros === undefined ? {} : { share: { block: call.block.index } }
}
