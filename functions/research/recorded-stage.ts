import { Fault } from '../../shared/errors.ts'
import type { Stage } from '../../shared/research/stage.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { allEvents } from '../runs/all-events.ts'
import { readChain } from './read-chain.ts'
import type { StageCall } from './stage-call.ts'

/** What a stage answers its machine: the next step, from the state it names. */
export interface StageAnswer {
  readonly step: number
  readonly ref: string
  readonly next: Stage | 'settle'
}

/** The event of each stage. */
export const STAGE_EVENTS = {
  nl_classify: 'research:classified',
  route_search: 'research:routed',
  execute_subqueries: 'research:executed',
  assess_sufficiency: 'research:assessed',
  synthesize_answer: 'research:synthesized',
} as const satisfies Readonly<Record<Stage, RunEvent['type']>>

/** What this step of the stage came to, if somebody recorded it: the same answer again, without any of its work. */
export async function recordedStage(
  { world, run, stage, step }: StageCall,
  lane: number | null,
): Promise<StageAnswer | undefined> {
  if (lane === null) return undefined
  const { attempt, phase } = readOrdinal(lane)
  if (attempt < step || (attempt === step && phase < PHASE.output)) return undefined
  const type = STAGE_EVENTS[stage]
  const events = await allEvents(world, run)
  const told = events.findLast((event) => event.type === type && event.data.n === step)
  if (told?.type !== type) throw superseded(run)
  const { ref } = told.data
  return { step: step + 1, ref, next: (await readChain(world, run.tenant, ref)).next }
}

/** Another invocation has this stage now: whoever asks again finds what that one recorded. */
export function superseded({ run_id }: RunKey): Fault {
  const message = `Run "${run_id}" was stopped, or another call of this stage took its place.`
  return new Fault('Rejected', 'superseded', message)
}
