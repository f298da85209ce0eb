import { sha256 } from '../../shared/canonical.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { nextTelling } from '../../shared/runs/approval-times.ts'
import { approvalLane, askNumber } from '../../shared/runs/ask-id.ts'
import { earlier, OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { tellAtOnce } from '../blocks/told-use.ts'
import { fewNames } from './few-names.ts'
import { notifyEntry } from './notify-entry.ts'

/**
 * Records that a person is asked from now on; what judges of the pre-gates used goes with it. Only while the lane of the
 * block, or of the attempt it is about, is where it was: who stops it meanwhile finds no question to cancel.
 */
export async function appendRequested(call: BlockCall, item: ApprovalItem): Promise<void> {
  const { world, run, block, lane, lane_key, raw_lane } = call
  const { id, requested_at: at } = item
  const set = openApproval(item)
  const requested = tellAtOnce(call, 0, requestedEvent(item))
  const isFirst = lane === undefined && askNumber(id) === undefined
  const ready: NewEvent[] = isFirst ? [{ type: 'block:ready', block_id: block.id, data: {} }] : []
  const step = ordinal({ epoch: approvalEpoch(id), attempt: askNumber(id) ?? 0, phase: PHASE.claimed })
  const outbox = notifyEntry(world, run, at, 'asked', id)
  const done = await world.runs.append({
    run,
    lane: approvalLane(id, block.index),
    ordinal: step,
    guard: { below: step },
    while: [{ lane: lane_key, is: raw_lane }],
    at,
    ...requested,
    events: [...ready, ...requested.events],
    approval: { id, was: null, set },
    outbox,
    check_at: outbox.length > 0 ? earlier(set.next_at, graceOf(item)) : earlier(set.next_at, set.expires_at),
  })
  if (done.ok && outbox.length > 0) await world.outbox.nudge(run)
}

/** The message owed is looked after sooner than most questions expire. */
function graceOf({ requested_at, expires_at }: ApprovalItem): string {
  return earlier(expires_at, new Date(Date.parse(requested_at) + OUTBOX_GRACE_MS).toISOString())
}

function openApproval(item: ApprovalItem): HeadApproval {
  const { block, expires_at, digest, about, requested_at } = item
  const next = nextTelling(item, {}, Date.parse(requested_at))
  return { block, status: 'pending', expires_at, digest, ...(about === undefined ? {} : { about }), ...next }
}

function requestedEvent(item: ApprovalItem): NewEvent {
  const { id, block_id, digest, expires_at, approvers, quorum = 1, about } = item
  const data = {
    approval_id: id,
    digest,
    prompt_hash: sha256(item.prompt),
    expires_at,
    approvers: fewNames(approvers),
    quorum,
    ...(about === undefined ? {} : { about }),
  }
  return { type: 'approval:requested', block_id, data }
}
