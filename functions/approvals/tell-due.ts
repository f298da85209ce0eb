import type { Append } from '../../shared/runs/append.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { dueTelling, nextTelling } from '../../shared/runs/approval-times.ts'
import { askNumber } from '../../shared/runs/ask-id.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { ordinal } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { fewNames } from './few-names.ts'
import { notifyEntry } from './notify-entry.ts'

type TellWorld = Pick<World, 'runs' | 'clock' | 'outbox' | 'settings'>

/** A reminder and an escalation may both be due, and a vote may come in between. */
const ROUNDS = 4

/** Reminds people of a pending approval, and asks those besides, if it is time; whoever looks too, one of them does it. */
export async function tellDue(world: TellWorld, run: RunKey, item: ApprovalItem): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const head = await world.runs.head(run, [])
    const approval = head?.approvals[item.id]
    if (head?.state !== 'running' || approval?.status !== 'pending') return
    const append = tellingAppend(world, run, item, approval)
    if (append === undefined) return
    const done = await world.runs.append(append)
    if (done.ok && (append.outbox ?? []).length > 0) await world.outbox.nudge(run)
  }
}

/** On a lane of its own, `n<k>`, which counts through all that is asked about the block. */
function tellingAppend(
  world: Pick<World, 'clock' | 'settings'>,
  run: RunKey,
  item: ApprovalItem,
  was: HeadApproval,
): Append | undefined {
  const now = world.clock.now()
  const due = dueTelling(item, was, now)
  if (due === undefined) return undefined
  const at = new Date(now).toISOString()
  const { next_at: _, told: before = 0, ...rest } = was
  const told = before + 1
  const escalated = was.escalated === true || due === 'escalate' ? { escalated: true as const } : {}
  const next = nextTelling(item, escalated, now)
  const place = ordinal({ epoch: approvalEpoch(item.id), attempt: askNumber(item.id) ?? 0, phase: told })
  const outbox = notifyEntry(world, run, at, due === 'escalate' ? 'escalated' : 'reminded', item.id)
  const checks = [next.next_at, ...outbox.map(() => new Date(now + OUTBOX_GRACE_MS).toISOString())]
  const check_at = checks.filter((time) => time !== undefined).sort()[0]
  return {
    run,
    lane: `n${item.block.toString(36)}`,
    ordinal: place,
    guard: { below: place },
    at,
    events: [tellingEvent(item, was, due)],
    approval: { id: item.id, was, set: { ...rest, ...escalated, ...next, told } },
    outbox,
    ...(check_at === undefined ? {} : { check_at }),
  }
}

function tellingEvent(
  { id: approval_id, block_id, escalate }: ApprovalItem,
  { told = 0, escalated }: HeadApproval,
  due: 'remind' | 'escalate',
): NewEvent {
  if (due === 'escalate') {
    return { type: 'approval:escalated', block_id, data: { approval_id, to: fewNames(escalate?.to ?? []) } }
  }
  const n = told + 1 - Number(escalated === true)
  return { type: 'approval:reminded', block_id, data: { approval_id, n } }
}
