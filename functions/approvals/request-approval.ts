import * as z from 'zod'
import { nextReminderOrEscalation } from '../../shared/runs/approval-reminders.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { earlierTime, type HeadApproval, OUTBOX_GRACE_MS, openWaits } from '../../shared/runs/head.ts'
import { approvalEpoch, approvalId, approvalLane, questionNumber } from '../../shared/runs/ids.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { samePause } from '../../shared/runs/pause.ts'
import type { Append, RunKey } from '../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { World } from '../../shared/world.ts'
import { type BlockCall, isStale, wasStoppedInEarlierPass, whySkipped } from '../attempts/block-call.ts'
import { awaitsBounce } from '../attempts/bounce.ts'
import { appendWithUse } from '../attempts/budget.ts'
import { awaitResume } from '../attempts/hold.ts'
import { openBlockCall } from '../attempts/open-block-call.ts'
import { findQuestion, resumeIfAnsweredYes } from '../attempts/question.ts'
import { functionHandler } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { namesThatFit, notifyEntry } from '../runs/due-approvals.ts'
import { leaveSlot, restFrom, restIfIdle } from '../runs/rest.ts'
import { questionBeforeWork, questionInAttempt } from './approval-item.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  /** Absent: `_hold`, which waits for the end of a pause alone. */
  block: z.string().min(1).optional(),
  token: z.string().min(1),
  e: z.int().min(0).optional(),
  item: z.int().min(0).optional(),
  /** `_ask_<id>`: about an attempt that waits for an answer. */
  ask: z.literal(true).optional(),
})

/**
 * `_approve_<id>`: asks a person about a block that would otherwise be dispatched now, and leaves the task token in the
 * store. A block that would be skipped or refused, or was decided on already, is not asked about: the token is answered
 * at once and the block state does the rest (docs/architecture.md, "Questions to people"). `_ask_<id>` calls it too. While
 * the run is paused nobody is asked: the token waits until it goes on (docs/adr/0104).
 */
export const handler = functionHandler({
  name: 'request-approval',
  input: InputSchema,
  async run({ in: input, token, ask, block, ...place }, world) {
    const run = toRunKey(input)
    const isOpen = (await awaitResume(world, run, token)) || (await asks(world, run, { ask, block, ...place }, token))
    if (!isOpen) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

type Asking = Pick<z.infer<typeof InputSchema>, 'block' | 'e' | 'item' | 'ask'>

async function asks(world: World, run: RunKey, { block, ask, ...place }: Asking, token: string): Promise<boolean> {
  if (block === undefined) return false
  const call = await openBlockCall(world, run, { block, ...place })
  // Paused since: `<id>` finds that and waits.
  if (call.head.paused !== undefined) return false
  return ask === true ? requestAnswer(call, token) : requestApproval(call, token)
}

async function requestApproval(call: BlockCall, token: string): Promise<boolean> {
  if (!(await isAskable(call))) return false
  // A question in the middle of its attempt comes before the one about its dispatch.
  const now = await resumeIfAnsweredYes(call)
  return now !== undefined && askOnce(now, token)
}

/** Whether the token now waits for a decision. */
async function askOnce(call: BlockCall, token: string): Promise<boolean> {
  const { world, run, block, head, epoch } = call
  const id = approvalId(run.run_id, block.index, epoch)
  const known = await world.runs.approval(run, id)
  const item = head.approvals[id] === undefined ? await questionBeforeWork(call, id) : known
  if (item === undefined) return false
  // Token first, then HEAD; a decider writes HEAD first, then reads the token: one of the two sees the other.
  await world.runs.putApproval(run, item, token)
  // Somebody may have asked first: what is asked is what is stored.
  if (head.approvals[id] === undefined) await appendRequested(call, (await world.runs.approval(run, id)) ?? item)
  const now = await world.runs.head(run, [])
  return now?.state === 'running' && now.approvals[id]?.status === 'pending'
}

/** Whether a person is asked about the block now, as far as HEAD says; its pre-gates come after. */
async function isAskable(call: BlockCall): Promise<boolean> {
  const { block, head, run, epoch } = call
  if (block.approval === undefined || head.state !== 'running' || isStale(call) || wasStoppedInEarlierPass(call))
    return false
  const { outcome, phase } = readOrdinal(call.lane ?? 0)
  // Claimed: its attempt is at work, or was lost in the middle of recording why it is refused; `<id>` goes on with that.
  if (outcome !== undefined || (phase >= PHASE.claimed && phase < PHASE.retrying)) return false
  const known = head.approvals[approvalId(run.run_id, block.index, epoch)]
  if (known !== undefined) return known.status === 'pending'
  return whySkipped(call) === undefined && !(await awaitsBounce(call))
}

/**
 * `_ask_<id>`: asks a person about an attempt that waits for an answer, or joins the question that was asked already.
 * Whether the token now waits; it does not where the answer is there, or the attempt is not what it was.
 */
async function requestAnswer(call: BlockCall, token: string): Promise<boolean> {
  const { world, run, head, lane_key, raw_lane } = call
  const ask = head.state === 'running' && !isStale(call) ? await findQuestion(call) : undefined
  if (ask === undefined || raw_lane === null) return false
  const id = ask.approval_id
  const known = head.approvals[id] === undefined ? undefined : await world.runs.approval(run, id)
  const item = known ?? (await questionInAttempt(call, ask))
  // Token first, then HEAD; a decider writes HEAD first, then reads the tokens: one of the two sees the other.
  await world.runs.putApproval(run, item, token)
  // Somebody may have asked first: what is asked is what is stored.
  if (known === undefined) await appendRequested(call, (await world.runs.approval(run, id)) ?? item)
  const now = await world.runs.head(run, [lane_key])
  const isPending = now?.state === 'running' && now.approvals[id]?.status === 'pending'
  return isPending && now.lanes[lane_key] === raw_lane
}

/**
 * Records that a person is asked from now on; what judges of the pre-gates used goes with it. Only while the lane of the
 * block, or of the attempt it is about, is where it was: who stops it meanwhile finds no question to cancel.
 */
async function appendRequested(call: BlockCall, item: ApprovalItem): Promise<void> {
  const { world, run, block, lane, lane_key, raw_lane } = call
  const { id, requested_at: at } = item
  const set = openApproval(item)
  const requested = appendWithUse(call, 0, requestedEvent(item))
  const isFirst = lane === undefined && questionNumber(id) === undefined
  const ready: NewEvent[] = isFirst ? [{ type: 'block:ready', block_id: block.id, data: {} }] : []
  const step = ordinal({ epoch: approvalEpoch(id), attempt: questionNumber(id) ?? 0, phase: PHASE.claimed })
  const outbox = notifyEntry(world, run, at, 'asked', id)
  const append: Append = {
    run,
    lane: approvalLane(id, block.index),
    ordinal: step,
    guard: { below: step },
    while: [{ lane: lane_key, is: raw_lane }, samePause(call.head)],
    at,
    ...requested,
    events: [...ready, ...requested.events],
    approval: { id, was: null, set },
    outbox,
    check_at: outbox.length > 0 ? earlierTime(set.next_at, graceOf(item)) : earlierTime(set.next_at, set.expires_at),
  }
  const resting = await restOf(call, id, set)
  const done = await world.runs.append({ ...append, ...resting })
  const isAsked = done.ok || (done.because === 'resting' && (await world.runs.append(append)).ok)
  if (isAsked && outbox.length > 0) await world.outbox.nudge(run)
  const since = done.ok ? resting.rest?.set?.since : undefined
  if (since !== undefined) await leaveSlot(world, run, since)
  // Two who ask at once do not see one another: the later one does, here.
  else if (isAsked) await restIfIdle(world, call)
}

/** Nothing else goes on: the run rests from the moment it asks. */
async function restOf(call: BlockCall, id: string, set: HeadApproval): Promise<ReturnType<typeof restFrom>> {
  const { world, run, meta } = call
  const head = meta.parent === undefined ? await world.runs.head(run) : undefined
  if (head === undefined || openWaits(head).length > 0) return {}
  const after = { ...head, approvals: { ...head.approvals, [id]: set } }
  return restFrom(call, after, new Date(world.clock.now()).toISOString())
}

/** The message owed is looked after sooner than most questions expire. */
function graceOf({ requested_at, expires_at }: ApprovalItem): string {
  return earlierTime(expires_at, new Date(Date.parse(requested_at) + OUTBOX_GRACE_MS).toISOString())
}

function openApproval(item: ApprovalItem): HeadApproval {
  const { block, expires_at, digest, about, requested_at, tool } = item
  const next = nextReminderOrEscalation(item, {}, Date.parse(requested_at))
  const asked = { ...(about === undefined ? {} : { about }), ...(tool === undefined ? {} : { tool }) }
  return { block, status: 'pending', expires_at, digest, ...asked, ...next }
}

function requestedEvent(item: ApprovalItem): NewEvent {
  const { id, block_id, digest, expires_at, approvers, quorum = 1, about } = item
  const data = {
    approval_id: id,
    digest,
    prompt_hash: sha256(item.prompt),
    expires_at,
    approvers: namesThatFit(approvers),
    quorum,
    ...(about === undefined ? {} : { about }),
  }
  return { type: 'approval:requested', block_id, data }
}
