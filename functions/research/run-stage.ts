import type { Stage } from '../../shared/research/stage.ts'
import { functionHandler, type Handler } from '../handler.ts'
import { recordStage } from './record-stage.ts'
import { recordedStage, type StageAnswer } from './recorded-stage.ts'
import { openStageCall, type StageCall } from './stage-call.ts'
import { StageInputSchema } from './stage-input.ts'
import type { StageOutcome } from './stage-outcome.ts'

/**
 * The function of a stage. Safe to invoke any number of times: its lane in HEAD says whether this step was recorded, and
 * then its answer is what was recorded, without any work. `after` is done again each time; it must not matter how often.
 * A run that has ended goes to its settling.
 */
export function stageHandler(
  stage: Stage,
  work: (call: StageCall) => Promise<StageOutcome>,
  after: (call: StageCall, answer: StageAnswer) => Promise<void> = async () => undefined,
): Handler {
  return functionHandler({
    name: stage.replaceAll('_', '-'),
    input: StageInputSchema,
    async run(input, world, { signal }): Promise<StageAnswer> {
      const call = await openStageCall(world, stage, input, signal)
      const over: StageAnswer = { step: call.step + 1, ref: input.ref, next: 'settle' }
      if (call.head.state !== 'running') return over
      try {
        const answer = (await recordedStage(call, call.meter.lane)) ?? (await recordStage(call, await work(call)))
        await after(call, answer)
        return answer
      } catch (error) {
        const head = await world.runs.head(call.run, [])
        if (head !== undefined && head.state !== 'running') return over
        throw error
      }
    },
  })
}
