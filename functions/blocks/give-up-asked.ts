import { canonicalJson } from '../../shared/canonical.ts'
import { workingLeg } from '../../shared/runs/legs.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import { approvedEdits } from '../approvals/approved-edits.ts'
import type { BlockCall } from './block-call.ts'
import { freedByEnd } from './freed-by-end.ts'
import { askedInputs } from './judge-pre.ts'
import type { OpenAsk } from './open-ask.ts'
import { eventHead, laneHead, ownerOf } from './own-lane.ts'
import { retryBlock } from './retry-block.ts'

/**
 * Who approved the dispatch, after something else was asked about the attempt, may have changed its inputs: then it is
 * given up, and the next one begins with those. What was waived of inputs that stayed the same stays waived.
 */
export async function giveUpIfEdited(call: BlockCall, ask: OpenAsk): Promise<void> {
  const edits = Object.entries(await approvedEdits(call))
  if (edits.length === 0 || call.lane === undefined) return
  const { values } = await askedInputs(call, ask)
  if (edits.every(([port, value]) => canonicalJson(values[port] ?? null) === canonicalJson(value))) return
  const { world, lane } = call
  const { attempt, projection } = ask
  const untried = (projection.untried ?? 0) + 1
  const at = new Date(world.clock.now()).toISOString()
  const place = ordinal({ ...readOrdinal(lane), leg: workingLeg(lane), phase: PHASE.retrying })
  const told = { code: 'inputs_edited', reason: 'the person who approved it changed its inputs' }
  await world.runs.append({
    ...laneHead(call),
    ordinal: place,
    guard: { is: call.raw_lane },
    at,
    events: [{ type: 'block:retrying', ...eventHead(call), attempt, data: { ...told, due_at: at } }],
    ...freedByEnd(call),
    projection: { ...ownerOf(call), ordinal: place, attempt, untried, state: 'retrying', due_at: at, failure: told },
  })
  throw retryBlock(call)
}
