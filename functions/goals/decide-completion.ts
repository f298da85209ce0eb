import * as z from 'zod'
import type { GoalEvaluation } from '../../shared/goals/goal-evaluation.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import { shortText } from '../blocks/short-text.ts'
import { functionHandler } from '../handler.ts'
import { MachineInputSchema, runOf } from '../runs/machine-input.ts'
import { notYetThere } from '../runs/not-yet-there.ts'
import { readPinned } from '../runs/read-pinned.ts'
import { openStorage } from '../storage.ts'
import { completionRequest } from './completion-request.ts'
import { judgeAttempt } from './judge-attempt.ts'

/** The run is judged once, whoever repeats it. */
const LANE = 'g'
const DECIDED = ordinal({ epoch: 0, attempt: 0, phase: PHASE.completed })

/** Characters of what did not hold: the event has 1 KiB in all, of any script. */
const MOST_REASON = 200

/**
 * `_decide_completion`: judges a run whose blocks have all ended well by its trust, quality and goal gates, and records
 * what they say (goal:evaluated), with everything they were asked. `_settle` then gives the run its verdict from that.
 */
export const handler = functionHandler({
  name: 'decide-completion',
  input: z.strictObject({ in: MachineInputSchema }),
  async run({ in: input }, given) {
    const run = runOf(input)
    const { world } = openStorage(given, run)
    const pinned = await readPinned(world, run).catch(notYetThere(`the document of run "${run.run_id}"`))
    const { meta } = pinned
    const head = await world.runs.head(run, [LANE])
    if (meta.goal === undefined || head?.state !== 'running' || head.lanes[LANE] !== undefined) return {}
    const asked = await completionRequest(world, run, pinned, meta.goal)
    const evaluation = await judgeAttempt(world, meta, asked)
    const { ref } = await world.objects.put(run.tenant, Buffer.from(JSON.stringify(evaluation)))
    await world.runs.append({
      run,
      lane: LANE,
      ordinal: DECIDED,
      guard: { below: DECIDED },
      at: new Date(world.clock.now()).toISOString(),
      events: [evaluated(evaluation, ref)],
    })
    return {}
  },
})

function evaluated({ completion }: GoalEvaluation, ref: string): NewEvent {
  const { goal_status, met_count, total_count, row, trust_passed, quality, final_status, action, pivot } = completion
  const said = completion.warnings.map(({ message }) => message).join('; ')
  return {
    type: 'goal:evaluated',
    data: {
      status: goal_status,
      met: met_count,
      total: total_count,
      row,
      attempt: pivot.attemptNumber,
      trust_passed,
      quality_passed: quality.passed,
      final_status,
      action,
      ...(said === '' ? {} : { reason: shortText(said, MOST_REASON) }),
      ref,
    },
  }
}
