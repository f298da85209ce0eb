import type { LaneStands } from '../../shared/runs/append.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { moduleLane } from '../../shared/runs/lane-key.ts'
import { workingLeg } from '../../shared/runs/legs.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockProjection, BlockState } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock } from './block-report.ts'
import { failFast } from './fail-fast.ts'
import { freedByEnd } from './freed-by-end.ts'
import { eventHead, laneHead, ownerOf } from './own-lane.ts'
import { retryBlock } from './retry-block.ts'
import { tellAtOnce } from './told-use.ts'
import { whileUnasked } from './while-unasked.ts'

/** Records why this block never starts: an upstream did not complete, or its own condition is not true. */
export function skipBlock(call: BlockCall, data: EventData<'block:skipped'>): Promise<BlockReport> {
  return endWithout(call, 'skipped', { type: 'block:skipped', block_id: call.block.id, data })
}

/** Records that a person (or the expiry of the question) refused this block: it fails without being dispatched. */
export async function refuseBlock(
  call: BlockCall,
  { code, reason, gates }: { readonly code: string; readonly reason: string; readonly gates?: readonly string[] },
): Promise<BlockReport> {
  const event: NewEvent = { type: 'block:failed', ...eventHead(call), data: { code, reason } }
  const named = gates === undefined ? {} : { gates }
  const report = await endWithout(call, 'failed', event, { code, reason, feedback: [reason], ...named })
  if (report.state === 'failed') await failFast(call, { code, reason, ...named })
  return report
}

/** What was stopped stays stopped in every further pass of its bounce module. */
export async function stopAgain(call: BlockCall): Promise<BlockReport> {
  const [before] = await call.world.runs.projections(call.run, [call.block.index])
  const { code, reason } = before?.failure ?? { code: 'stopped', reason: 'stopped in an earlier pass' }
  const failure = { code, reason }
  return endWithout(call, 'cancelled', { type: 'block:cancelled', ...eventHead(call), data: failure }, failure)
}

async function endWithout(
  call: BlockCall,
  state: BlockState & ('skipped' | 'failed' | 'cancelled'),
  event: NewEvent,
  failure?: BlockProjection['failure'],
): Promise<BlockReport> {
  const { world, epoch, lane } = call
  const attempt = lane === undefined ? 0 : readOrdinal(lane).attempt
  const leg = lane === undefined ? 0 : workingLeg(lane)
  const at = ordinal({ epoch, attempt, leg, phase: PHASE[state] })
  const done = await world.runs.append({
    ...laneHead(call),
    ordinal: at,
    guard: { is: call.raw_lane },
    while: [...whileNotSentBack(call), ...whileUnasked(call)],
    at: new Date(world.clock.now()).toISOString(),
    ...tellAtOnce(call, attempt, event),
    ...freedByEnd(call),
    projection: { ...ownerOf(call), ordinal: at, state, attempt, ...(failure === undefined ? {} : { failure }) },
  })
  if (done.ok) return reportBlock(call, { state, attempt, seq: done.seq, verdicts: [] })
  // Somebody moved the lane, or sent its module back: what is there now decides.
  if (done.because !== 'terminal') throw retryBlock(call)
  return reportBlock(call, { state: 'cancelled', attempt, seq: call.head.seq, verdicts: [] })
}

/** Of what this is for, blocks before it may begin again, while its own lane stays as it is. */
function whileNotSentBack({ module, head }: BlockCall): readonly LaneStands[] {
  if (module === undefined) return []
  const lane = moduleLane(module)
  return [{ lane, is: head.lanes[lane] ?? null }]
}
