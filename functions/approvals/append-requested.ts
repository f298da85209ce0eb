import { sha256 } from '../../shared/canonical.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { tellAtOnce } from '../blocks/told-use.ts'

const APPROVERS_BYTES = 2_048

/** Records that a person is asked from now on; what judges of the pre-gates used goes with it. */
export async function appendRequested(call: BlockCall, item: ApprovalItem): Promise<void> {
  const { world, run, block, lane, epoch } = call
  const { id, digest, expires_at, approvers } = item
  const data = {
    approval_id: id,
    digest,
    prompt_hash: sha256(item.prompt),
    expires_at,
    approvers: fewOf(approvers),
    quorum: 1,
  }
  const requested = tellAtOnce(call, 0, { type: 'approval:requested', block_id: block.id, data })
  const ready: NewEvent[] = lane === undefined ? [{ type: 'block:ready', block_id: block.id, data: {} }] : []
  const step = ordinal({ epoch, attempt: 0, phase: PHASE.claimed })
  await world.runs.append({
    run,
    lane: `a${block.index.toString(36)}`,
    ordinal: step,
    guard: { below: step },
    at: item.requested_at,
    ...requested,
    events: [...ready, ...requested.events],
    approval: { id, was: null, set: { block: block.index, status: 'pending', expires_at, digest } },
    check_at: expires_at,
  })
}

/** The first approvers, as many as an event has room for; A# holds them all, and only it is asked who may decide. */
function fewOf(approvers: readonly string[]): string[] {
  let bytes = 0
  return approvers.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= APPROVERS_BYTES
  })
}
