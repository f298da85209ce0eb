import { less, plus } from '../../shared/runs/amounts.ts'
import type { LaneStands } from '../../shared/runs/append.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import { superseded } from './recorded-stage.ts'
import { type StageCall, stageLane } from './stage-call.ts'

/**
 * Sets the estimate of a model call aside in the ledger of the run, before the call is made; false = it does not fit
 * under a cap. What was set aside before and not used is taken first. Who finds the lane moved has been overtaken.
 */
export async function reserveStageCall(call: StageCall, wanted: Amount): Promise<boolean> {
  const { meter, world, run, lane, step } = call
  const short = less(plus(meter.used, wanted), meter.reserved)
  if (short.tokens === 0 && short.usd_micros === 0) return true
  const at = ordinal({ epoch: 0, attempt: step, phase: nextPhase(meter.lane, step) })
  if (readOrdinal(at).phase >= PHASE.output) return false
  const done = await world.runs.append({
    run,
    lane,
    ordinal: at,
    guard: { is: meter.lane },
    while: whileUnanswered(call),
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'budget:reserved', data: short }],
    reserve: short,
  })
  if (done.ok) {
    meter.lane = at
    meter.reserved = plus(meter.reserved, short)
    return true
  }
  if (done.because === 'budget') return false
  throw superseded(run)
}

/** Once the answer is begun no other stage writes any more; and the answer tells what stages that failed left behind. */
export function whileUnanswered({ stage, meter }: StageCall): readonly LaneStands[] {
  return stage === 'synthesize_answer' ? meter.left : [{ lane: stageLane('synthesize_answer'), is: null }]
}

function nextPhase(lane: number | null, step: number): number {
  const { attempt, phase } = readOrdinal(lane ?? 0)
  return lane !== null && attempt === step && phase >= PHASE.reserved ? phase + 1 : PHASE.reserved
}
