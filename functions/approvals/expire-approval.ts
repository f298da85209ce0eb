import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { deadlineAfterPause } from './deadline-after-pause.ts'

/** Records that nobody decided in time, and owes the waiting machine its answer. Undefined: somebody decided first. */
export async function expireApproval(
  world: Pick<World, 'runs' | 'clock' | 'outbox'>,
  run: RunKey,
  { id, block, block_id, on_timeout }: Pick<ApprovalItem, 'id' | 'block' | 'block_id' | 'on_timeout'>,
  pending: HeadApproval,
): Promise<HeadApproval | undefined> {
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const set: HeadApproval = { ...pending, status: 'expired', decided_at: at, via: 'timeout' }
  const head = await world.runs.head(run)
  const end = ordinal({ epoch: approvalEpoch(id), attempt: 0, phase: PHASE.completed })
  const event: NewEvent = { type: 'approval:expired', block_id, data: { approval_id: id, on_timeout } }
  const done = await world.runs.append({
    run,
    lane: `a${block.toString(36)}`,
    ordinal: end,
    guard: { below: end },
    at,
    events: [event],
    approval: { id, was: 'pending', set },
    outbox: [{ id: `token-${id}`, at, kind: 'send_token', approval_id: id }],
    check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
    ...(head === undefined ? {} : await deadlineAfterPause(world, run, head, now)),
  })
  if (!done.ok) return undefined
  await world.outbox.nudge(run)
  return set
}
