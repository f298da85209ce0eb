import type { Append } from '../../shared/runs/append.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { approvalLane, askNumber } from '../../shared/runs/ask-id.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { Head, HeadApproval } from '../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { deadlineAfterPause } from './deadline-after-pause.ts'
import { notifyEntry } from './notify-entry.ts'

type Expiring = Pick<ApprovalItem, 'id' | 'block' | 'block_id' | 'on_timeout'>
type ExpireWorld = Pick<World, 'runs' | 'clock' | 'outbox' | 'settings'>

/** A vote or a reminder may come in between. */
const ROUNDS = 4

/** Records that nobody decided in time, and owes the waiting machine its answer. Undefined: somebody decided first. */
export async function expireApproval(
  world: ExpireWorld,
  run: RunKey,
  item: Expiring,
): Promise<HeadApproval | undefined> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const head = await world.runs.head(run)
    const pending = head?.approvals[item.id]
    if (head?.state !== 'running' || pending?.status !== 'pending') return undefined
    const append = await expiryAppend(world, run, item, { head, pending })
    if ((await world.runs.append(append)).ok) {
      await world.outbox.nudge(run)
      return append.approval?.set
    }
  }
  return undefined
}

async function expiryAppend(
  world: ExpireWorld,
  run: RunKey,
  { id, block, block_id, on_timeout }: Expiring,
  { head, pending }: { readonly head: Head; readonly pending: HeadApproval },
): Promise<Append> {
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const { next_at: _, ...rest } = pending
  const end = ordinal({ epoch: approvalEpoch(id), attempt: askNumber(id) ?? 0, phase: PHASE.completed })
  const event: NewEvent = { type: 'approval:expired', block_id, data: { approval_id: id, on_timeout } }
  return {
    run,
    lane: approvalLane(id, block),
    ordinal: end,
    guard: { below: end },
    at,
    events: [event],
    approval: { id, was: pending, set: { ...rest, status: 'expired', decided_at: at, via: 'timeout' } },
    outbox: [
      { id: `token-${id}`, at, kind: 'send_token', approval_id: id },
      ...notifyEntry(world, run, at, 'expired', id),
    ],
    check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
    ...(await deadlineAfterPause(world, run, head, now)),
  }
}
