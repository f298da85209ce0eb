import { NOTHING, plus } from '../../shared/runs/amounts.ts'
import type { UsedByCalls } from '../../shared/runs/event.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import { type CallMeter, countUse } from './call-meter.ts'

/** What calls used since somebody asked, for the event that tells of it. */
export function takeUntold(meter: CallMeter): UsedByCalls | undefined {
  const { untold } = meter
  meter.untold = undefined
  return untold
}

/** What the append that records these calls frees. */
export function settleMeter(meter: CallMeter): Amount {
  const { reserved } = meter
  meter.told = plus(meter.told, meter.used)
  meter.reserved = NOTHING
  meter.used = NOTHING
  return reserved
}

/** The same at the attempt's end: a call that is still under way counts with its estimate, nobody will know better. */
export function closeMeter(meter: CallMeter): Amount {
  const { tokens, usd_micros } = meter.flying
  if (tokens > 0 || usd_micros > 0) countUse(meter, meter.flying, { tokens_in: tokens, tokens_out: 0, usd_micros })
  meter.closed = true
  return settleMeter(meter)
}
