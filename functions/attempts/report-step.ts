import { ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import { type StepReport, StepReportSchema } from '../../shared/steps/step-order.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { readOwnProjection, STEP_LEASE_MS } from '../record/projections.ts'
import { appendBase, type BlockCall, eventBase, isStale, laneOwnerOf } from './block-call.ts'
import { openBlockCall } from './open-block-call.ts'

/** Whether the attempt is still its own: if not, whoever does the work ends it, and says nothing more. */
interface Answer {
  readonly go_on: boolean
}

/**
 * What whoever does the work of a step says of it (functions/steps/follow-step.ts). That it begins is recorded once: of two
 * who were handed the same attempt one works. While it goes on the claim is renewed and the machine is told so; its end
 * answers the task token with where the outcome lies, and `_close_<id>` judges that. Of an attempt that is not its own any
 * more (a stop, a lease that ran out) the token is answered with nothing, so that the machine looks at the record.
 */
export const handler = functionHandler({
  name: 'report-step',
  input: StepReportSchema,
  async run(report, world): Promise<Answer> {
    const { place, say } = report
    const run = { tenant: place.tenant, run_id: place.run_id }
    if (say === 'look' && !(await world.runs.stopped(run, place.index))) return { go_on: true }
    const call = await openBlockCall(world, run, place)
    if (!(await isOwn(call, report))) return letGo(world, report)
    if (say === 'begin') return { go_on: await begin(call, report) }
    if (say === 'end') return end(world, report)
    return goOn(call, report)
  },
})

async function letGo(world: World, { token, say }: StepReport): Promise<Answer> {
  if (say !== 'begin') await world.machine.answer(token, { ok: {} })
  return { go_on: false }
}

async function end(world: World, { token, outcome }: StepReport): Promise<Answer> {
  const answer = outcome === undefined ? {} : { outcome }
  return { go_on: (await world.machine.answer(token, { ok: answer })) === 'taken' }
}

/** The run goes on, nobody stopped the block, and the attempt is claimed as it was when its work was handed over. */
async function isOwn(call: BlockCall, { place }: StepReport): Promise<boolean> {
  const { head, lane, world, run, block } = call
  if (head.state !== 'running' || isStale(call) || lane === undefined) return false
  const { attempt, phase } = readOrdinal(lane)
  if (attempt !== place.attempt || phase < PHASE.claimed || phase >= PHASE.retrying) return false
  if (await world.runs.stopped(run, block.index)) return false
  return (await readOwnProjection(call, lane))?.holder === place.holder
}

/** From here on the step may have had an effect. False: somebody else began it. */
async function begin(call: BlockCall, report: StepReport): Promise<boolean> {
  const { phase } = readOrdinal(call.lane ?? 0)
  if (phase >= PHASE.begun) return false
  const done = await step(call, report, PHASE.begun, { type: 'step:started', data: { holder: report.place.holder } })
  return done.ok
}

async function goOn(call: BlockCall, report: StepReport): Promise<Answer> {
  const { world, run, lane = 0 } = call
  const { progress, token, place } = report
  const { phase } = readOrdinal(lane)
  if (progress !== undefined && phase >= PHASE.begun && phase < PHASE.begun + MOST_PROGRESS) {
    await step(call, report, phase + 1, { type: 'step:progress', data: progress })
  } else {
    await world.runs.renewLease(run, laneOwnerOf(call), place.holder, leaseUntil(world))
  }
  return { go_on: (await world.machine.beat(token)) === 'taken' }
}

/** Phases from where it begins to those of its end. */
const MOST_PROGRESS = 18

function leaseUntil({ clock }: World): string {
  return new Date(clock.now() + STEP_LEASE_MS).toISOString()
}

type StepEvent = Pick<Append['events'][number], 'type' | 'data'>

/** One step further in the lane of the attempt, whose claim it renews. */
async function step(call: BlockCall, { place }: StepReport, phase: number, event: StepEvent) {
  const { world, epoch, lane = 0 } = call
  const { leg } = readOrdinal(lane)
  const { attempt, holder } = place
  const at = ordinal({ epoch, attempt, leg, phase })
  const claimed = await readOwnProjection(call, lane)
  return world.runs.append({
    ...appendBase(call),
    ordinal: at,
    guard: { is: call.raw_lane },
    at: new Date(world.clock.now()).toISOString(),
    // One type of event and its own data: what the union of all cannot say of a variable.
    events: [{ ...event, ...eventBase(call), attempt } as Append['events'][number]],
    projection: {
      ...claimed,
      ...laneOwnerOf(call),
      ordinal: at,
      attempt,
      state: 'running',
      holder,
      lease_until: leaseUntil(world),
    },
  })
}
