import { plus } from '../../shared/runs/amounts.ts'
import type { Estimate } from '../../shared/runs/estimate-call.ts'
import { amountSpent } from '../../shared/runs/spent-by-calls.ts'
import type { StageCall } from './stage-call.ts'

/** Adds what one call used to what its stage did. */
export function countUsed({ meter }: Pick<StageCall, 'meter'>, used: Estimate): void {
  meter.used = plus(meter.used, amountSpent(used))
  meter.priced = meter.priced !== false && used.usd_micros !== undefined
}
