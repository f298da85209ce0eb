import { dueReminderOrEscalation, nextReminderOrEscalation } from '../../shared/runs/approval-reminders.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import {
  type Head,
  type HeadApproval,
  type NotifyAbout,
  OUTBOX_GRACE_MS,
  type OutboxEntry,
} from '../../shared/runs/head.ts'
import { approvalEpoch, approvalLane, questionNumber } from '../../shared/runs/ids.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import { samePause } from '../../shared/runs/pause.ts'
import type { Append, RunKey } from '../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'
import type { World } from '../../shared/world.ts'
import { goOn } from './rest.ts'

type Expiring = Pick<ApprovalItem, 'id' | 'block' | 'block_id' | 'on_timeout'>
type ExpireWorld = Pick<World, 'runs' | 'clock' | 'outbox' | 'settings'>

/** A vote or a reminder may come in between. */
const EXPIRY_ROUNDS = 4

/** Records that nobody decided in time, and owes the waiting machine its answer. Undefined: somebody decided first. */
export async function expireApproval(
  world: ExpireWorld,
  run: RunKey,
  item: Expiring,
): Promise<HeadApproval | undefined> {
  for (let round = 0; round < EXPIRY_ROUNDS; round += 1) {
    const head = await world.runs.head(run)
    const pending = head?.approvals[item.id]
    if (head?.state !== 'running' || pending?.status !== 'pending') return undefined
    // It is open for as long as the run stands, and longer by that.
    if (head.paused !== undefined || Date.parse(pending.expires_at) > world.clock.now()) return undefined
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
  const end = ordinal({ epoch: approvalEpoch(id), attempt: questionNumber(id) ?? 0, phase: PHASE.completed })
  const event: NewEvent = { type: 'approval:expired', block_id, data: { approval_id: id, on_timeout } }
  return {
    run,
    lane: approvalLane(id, block),
    ordinal: end,
    guard: { below: end },
    while: [samePause(head)],
    at,
    events: [event],
    approval: { id, was: pending, set: { ...rest, status: 'expired', decided_at: at, via: 'timeout' } },
    outbox: [
      { id: `token-${id}`, at, kind: 'send_token', approval_id: id },
      ...notifyEntry(world, run, at, 'expired', id),
    ],
    check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
    ...(await goOn(world, run, head, now)),
  }
}

type TellWorld = Pick<World, 'runs' | 'clock' | 'outbox' | 'settings'>

/** A reminder and an escalation may both be due, and a vote may come in between. */
const TELLING_ROUNDS = 4

/** Reminds people of a pending approval, and asks those besides, if it is time; whoever looks too, one of them does it. */
export async function remindOrEscalate(world: TellWorld, run: RunKey, item: ApprovalItem): Promise<void> {
  for (let round = 0; round < TELLING_ROUNDS; round += 1) {
    const head = await world.runs.head(run, [])
    const approval = head?.approvals[item.id]
    if (head?.state !== 'running' || approval?.status !== 'pending') return
    if (head.paused !== undefined) return
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
  const due = dueReminderOrEscalation(item, was, now)
  if (due === undefined) return undefined
  const at = new Date(now).toISOString()
  const { next_at: _, told: before = 0, ...rest } = was
  const told = before + 1
  const escalated = was.escalated === true || due === 'escalate' ? { escalated: true as const } : {}
  const next = nextReminderOrEscalation(item, escalated, now)
  const place = ordinal({ epoch: approvalEpoch(item.id), attempt: questionNumber(item.id) ?? 0, phase: told })
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
    return { type: 'approval:escalated', block_id, data: { approval_id, to: namesThatFit(escalate?.to ?? []) } }
  }
  const n = told + 1 - Number(escalated === true)
  return { type: 'approval:reminded', block_id, data: { approval_id, n } }
}

/** The message owed with an update: none where Slack is not configured for the tenant. One cause a moment: `at` makes the id unique. */
export function notifyEntry(
  { settings }: Pick<World, 'settings'>,
  { tenant }: Pick<RunKey, 'tenant'>,
  at: string,
  about: NotifyAbout,
  approval_id?: string,
): readonly OutboxEntry[] {
  if (settings.slack?.tenant !== tenant) return []
  const of = approval_id === undefined ? {} : { approval_id }
  const id = ['notify', about, approval_id ?? '', Date.parse(at)].join('-')
  return [{ id, at, kind: 'notify', about, ...of }]
}

const MOST_BYTES = 2_048

/** The first names, as many as an event has room for; A# holds them all, and only it is asked who may decide. */
export function namesThatFit(names: readonly string[]): string[] {
  let bytes = 0
  return names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= MOST_BYTES
  })
}
