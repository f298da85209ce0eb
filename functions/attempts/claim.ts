import { isNativeHandler } from '../../shared/dag/native-call.ts'
import type { MachineSignal } from '../../shared/errors.ts'
import { type Amount, NOTHING } from '../../shared/runs/budget.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { ordinal, PHASE, readOrdinal, workingLeg } from '../../shared/runs/lane.ts'
import { movedBy, PAUSE_LANE, samePause, stoodSince } from '../../shared/runs/pause.ts'
import { eventPosition } from '../../shared/runs/run-fold.ts'
import type { Append, Appended, LeasePool, RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import type { StepPlace } from '../../shared/steps/step-order.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { leaseForAttempt, type ProviderLease } from '../provider-lease.ts'
import { LEASE_MS, readOwnProjection, STEP_LEASE_MS } from '../record/projections.ts'
import { chargeFor, recordEvents } from '../record/record-events.ts'
import { allEvents } from '../record/run-log.ts'
import { workOf } from './agents/attempt-work.ts'
import {
  appendBase,
  type BlockCall,
  eventBase,
  freedByEnd,
  laneOwnerOf,
  mostFailedItems,
  nextAnsweredPhase,
  type Resumed,
  unaskedCondition,
} from './block-call.ts'
import { retryBlock } from './block-report.ts'
import { itemsUsage } from './budget.ts'
import { mayClaimWithEnd } from './claim-with-end.ts'
import { endLostInWork, isEffectUnknown, spentByLost } from './lost-step.ts'
import { chargeMeter } from './meter.ts'
import type { PreparedAttempt } from './prepare.ts'

const SLOT_WAIT_MS = 15_000
/** Places at a provider are given back in other processes too, which wake nobody here. */
const PLACE_WAIT_MS = 2_000
/** An invocation ends after 900 s, and its state after 930: a wait for a slot leaves room for the whole dispatch. */
const INVOCATION_MS = 900_000
const SPARE_MS = 30_000

/** A claimed attempt: nobody else may run it while its lease lives. */
export interface Claimed {
  readonly attempt: number
  readonly holder: string
  readonly seq: number
  /** Its place at its provider, until its calls are done. */
  readonly lease: ProviderLease
}

/** Where an attempt stands: what reports about it are judged by. */
export function placeOfAttempt(
  { run, block, item, e }: BlockCall,
  { attempt, holder }: Pick<Claimed, 'attempt' | 'holder'>,
): StepPlace {
  const passed = { ...(item === undefined ? {} : { item }), ...(e === undefined ? {} : { e }) }
  return { tenant: run.tenant, run_id: run.run_id, block: block.id, index: block.index, ...passed, attempt, holder }
}

/**
 * Claims the attempt: block:started with holder and lease, if the lane is as it was read, fewer than max_parallel
 * blocks run and its provider has a slot for it. Full: waits for a slot where the place can wake it (until the invocation's own time runs short), else
 * RetryBlock. `ended`: the run is over, or too many items beside it have failed. A host that gave up claims nothing.
 */
export async function claimAttempt(
  call: BlockCall,
  open: OpenAttempt,
  prepared: PreparedAttempt,
  signal: AbortSignal | undefined,
): Promise<Claimed | 'ended'> {
  const { world } = call
  const until = world.clock.now() + slotBudget(call)
  const holder = prepared.child ?? `${world.ids.boot}/${Buffer.from(world.ids.random(9)).toString('base64url')}`
  for (;;) {
    signal?.throwIfAborted()
    const done = await claimOnce(call, open, prepared, { holder, until, signal })
    if (done === 'ended' || !('full' in done)) return done
    if ((await waitForSlot(call, done.full, until, signal)) === 'ended') return 'ended'
  }
}

/** RetryBlock where nobody can be woken, or when the invocation's own time runs short. */
async function waitForSlot(
  call: BlockCall,
  full: RunKey | LeasePool,
  until: number,
  signal: AbortSignal | undefined,
): Promise<'waited' | 'ended'> {
  const { world, run } = call
  const atProvider = !('run_id' in full)
  const left = Math.min(atProvider ? PLACE_WAIT_MS : SLOT_WAIT_MS, until - world.clock.now())
  if (left <= 0 || !(await world.waker.slot(full, left, signal))) throw retryBlock(call, slotWait(call))
  // The end of the run wakes only those who wait for one of its own slots.
  return atProvider && (await world.runs.head(run, []))?.state !== 'running' ? 'ended' : 'waited'
}

/** `full`: who has no slot for it, the run or the provider. Nothing is held while it waits. */
async function claimOnce(
  call: BlockCall,
  open: OpenAttempt,
  prepared: PreparedAttempt,
  {
    holder,
    until,
    signal,
  }: { readonly holder: string; readonly until: number; readonly signal: AbortSignal | undefined },
): Promise<Claimed | 'ended' | { readonly full: RunKey | LeasePool }> {
  const lease = isDispatched(prepared) ? await leaseForAttempt(call, holder) : NO_LEASE
  if (!('end' in lease)) return { full: lease }
  const claimed = { attempt: open.attempt, holder, lease }
  try {
    const append = claimAppend(call, open, prepared, holder)
    if (isDispatched(prepared) && mayClaimWithEnd(call, prepared)) {
      call.meter.claim = append.projection
      call.meter.kept = { append, slot: () => waitForSlot(call, call.run, until, signal) }
      return { ...claimed, seq: call.head.seq }
    }
    const done = await recordClaim(call, append, prepared)
    if (done.ok) {
      call.meter.claim = append.projection
      const seq = await recordPreGateVerdicts(call, open.attempt, prepared)
      if (seq === 'ended') await lease.end()
      return seq === 'ended' ? seq : { ...claimed, seq: seq ?? done.seq }
    }
    await lease.end()
    return done.because === 'full' ? { full: call.run } : refused(call, done)
  } catch (error) {
    await lease.end()
    throw error
  }
}

/** An attempt that goes on tells what was waived, and what was judged since, with that. */
async function recordClaim(call: BlockCall, append: Append, { pre }: PreparedAttempt): Promise<Appended> {
  const { world, resumed, lane = 0, meter } = call
  if (resumed === undefined) return world.runs.append(append)
  const step = { ...readOrdinal(append.ordinal), phase: nextAnsweredPhase(lane) }
  const done = await recordEvents(world, step, [...pre.events, ...append.events], append, meter.reserved)
  if (done.ok) chargeMeter(meter)
  return done
}

const NO_LEASE: ProviderLease = { end: async () => undefined }

function isDispatched({ failure, items, child, taken }: PreparedAttempt): boolean {
  return [failure, items, child, taken].every((other) => other === undefined)
}

function slotBudget({ world, block }: BlockCall): number {
  return INVOCATION_MS - Math.min(block.timeout_ms, world.settings.safety.max_block_ms) - SPARE_MS
}

/** The run is over, or its block cannot succeed any more; or the lane moved, and what it says now decides. */
function refused(call: BlockCall, { because }: Extract<Appended, { readonly ok: false }>): 'ended' {
  if (because === 'terminal' || because === 'items_failed') return 'ended'
  throw retryBlock(call)
}

/** 1 to 15 seconds, spread so that waiting blocks do not come back together. */
function slotWait({ world }: BlockCall): number {
  return 1 + ((world.ids.random(1)[0] ?? 0) % 15)
}

/**
 * Verdicts of the pre-gates, right after the claim: by who claimed, or by who takes over the claim of one that died in
 * between. Answers the seq of the last one; undefined = there is none.
 */
export async function recordPreGateVerdicts(
  call: BlockCall,
  attempt: number,
  prepared: PreparedAttempt,
): Promise<number | 'ended' | undefined> {
  const { pre } = prepared
  if (!isRecordedLater(call, prepared)) return undefined
  const { world, epoch } = call
  const at = ordinal({ epoch, attempt, phase: PHASE.claimed + 9 })
  const time = new Date(world.clock.now()).toISOString()
  const final = { ...appendBase(call), ordinal: at, guard: { below: at }, at: time, ...openingOf(call, prepared) }
  const step = { epoch, attempt, phase: PHASE.claimed + 1 }
  const done = await recordEvents(world, step, pre.events, final, chargeMeter(call.meter))
  return done.ok ? done.seq : refused(call, done)
}

/**
 * The append that claims an attempt: block:started with holder and lease, if the lane is as it was read. One that a
 * person let go on is claimed anew, in its next leg: block:resumed.
 */
function claimAppend(call: BlockCall, open: OpenAttempt, prepared: PreparedAttempt, holder: string): Append {
  const { world, resumed } = call
  const { attempt } = open
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const place = claimOrdinal(call, attempt)
  const reserve = [prepared.reserve ?? NOTHING].filter(({ tokens, usd_micros }) => tokens + usd_micros > 0)
  const held = { holder, lease_until: leaseUntil(call, prepared, now), ...claimedChild(prepared) }
  return {
    ...claimBase(call),
    ordinal: place,
    // Verdicts that were waived may go before it, in steps of their own.
    guard: resumed === undefined ? { is: open.lane } : { below: place },
    while: [...unaskedCondition(call), samePause(call.head)],
    at,
    events: [...beginning(call, attempt, prepared, held), ...reserve.map((data) => reservedBy(call, attempt, data))],
    ...(reserve[0] === undefined ? {} : { reserve: reserve[0] }),
    ...runSlot(call),
    ...(prepared.child === undefined ? {} : { child: { lane: call.lane_key, run_id: prepared.child } }),
    ...(isRecordedLater(call, prepared) ? {} : openingOf(call, prepared)),
    projection: {
      ...laneOwnerOf(call),
      ordinal: place,
      attempt,
      state: 'running',
      ...held,
      inputs_hash: prepared.hash,
      ...(reserve[0] === undefined ? {} : { reserved: reserve[0] }),
      ...(open.failure === undefined ? {} : { failure: open.failure }),
      ...(open.untried === undefined ? {} : { untried: open.untried }),
      ...(prepared.items === undefined ? {} : { items: { ...prepared.items, since: at } }),
    },
  }
}

/** An item is not dispatched once its block cannot succeed any more: the store counts, in the update that claims it. */
function claimBase(call: BlockCall): ReturnType<typeof appendBase> {
  const base = appendBase(call)
  const most_failed = mostFailedItems(call)
  if (base.item_of === undefined || most_failed === undefined) return base
  return { ...base, item_of: { ...base.item_of, most_failed } }
}

/** Whether the verdicts of the pre-gates come in an append of their own, after the claim. */
function isRecordedLater({ resumed }: BlockCall, { pre }: PreparedAttempt): boolean {
  return resumed === undefined && pre.events.length > 0
}

function claimOrdinal({ epoch, lane, resumed }: BlockCall, attempt: number): number {
  const leg = resumed === undefined ? 0 : workingLeg(lane ?? 0)
  return ordinal({ epoch, attempt, leg, phase: PHASE.claimed })
}

type Held = Pick<EventData<'block:started'>, 'holder' | 'lease_until' | 'child' | 'binding_ref'>

function beginning(
  call: BlockCall,
  attempt: number,
  { items, hash, context_version, ...used }: PreparedAttempt,
  held: Held,
): readonly NewEvent[] {
  const { resumed } = call
  const data = { ...held, ...(items === undefined ? {} : { items }) }
  const head = { ...eventBase(call), attempt }
  if (resumed !== undefined) {
    return [{ type: 'block:resumed', ...head, data: { approval_id: resumed.ask.approval_id, ...data } }]
  }
  const started = { inputs_hash: hash, context_version, ...standsOn(used), ...callOf(call, used), ...data }
  return [...readyEvents(call), { type: 'block:started', ...head, data: started }]
}

/** Of an agent's call: which tool is called with what. */
function callOf({ acting }: BlockCall, { args_ref }: Pick<PreparedAttempt, 'args_ref'>) {
  if (acting?.call === undefined || args_ref === undefined) return {}
  const { tool } = acting.call
  return { call: { tool: shortRedacted(tool.name, 80), use: shortRedacted(tool.use, 300), args_ref } }
}

function standsOn({ decisions, decisions_ref }: Pick<PreparedAttempt, 'decisions' | 'decisions_ref'>) {
  if (decisions_ref !== undefined) return { decisions_ref }
  return decisions === undefined ? {} : { decisions: [...decisions] }
}

/** Items begin with the last append of the claim: the one of the pre-gates' verdicts, if there are any. */
function openingOf(
  { block }: BlockCall,
  { items, failure, keeps_items = false }: PreparedAttempt,
): Pick<Append, 'open_items'> | Record<never, never> {
  return items === undefined || keeps_items || failure !== undefined ? {} : { open_items: { block: block.index } }
}

/**
 * A child run holds the attempt as long as it may live itself. A foreach block needs its lease only until its items have
 * begun: then HEAD says so, and nobody asks for it. What AWS does itself is held by nothing of ours: its machine
 * stands there until it is over. `now` is the time of the claim itself: a lease is no longer than it says.
 */
function leaseUntil({ head, block, item }: BlockCall, { child }: PreparedAttempt, now: number): string {
  if (child !== undefined) return head.deadline_at
  const isStep = block.mode === 'deterministic' && block.step !== undefined
  const opensItems = block.foreach !== undefined && item === undefined
  if (isStep && !opensItems && isNativeHandler(block.handler)) return head.deadline_at
  return new Date(now + (isStep && !opensItems ? STEP_LEASE_MS : LEASE_MS)).toISOString()
}

function claimedChild({ child, binding_ref }: PreparedAttempt): Pick<BlockProjection, 'child' | 'binding_ref'> {
  if (child === undefined) return {}
  return { child, ...(binding_ref === undefined ? {} : { binding_ref }) }
}

/** A foreach block takes no place among what may run at once: each of its items does. Nor does a wait, since nothing of it runs. */
function runSlot(call: BlockCall): Pick<Append, 'start'> {
  if (call.block.foreach !== undefined || call.block.mode === 'wait') return {}
  return { start: { ...laneOwnerOf(call), limit: call.meta.options.max_parallel } }
}

/** block:ready comes once an epoch: with the approval's request if there is one, else with the first start. */
function readyEvents({ run, block, item, lane, head, epoch }: BlockCall): readonly NewEvent[] {
  const wasReady = item !== undefined || lane !== undefined
  if (wasReady || head.approvals[approvalId(run.run_id, block.index, epoch)] !== undefined) return []
  return [{ type: 'block:ready', block_id: block.id, data: {} }]
}

/** A child run works on what its parent reserves here. */
function reservedBy(call: BlockCall, attempt: number, data: Amount): NewEvent {
  return { type: 'budget:reserved', ...eventBase(call), attempt, data: { ...data } }
}

const MAX_WAIT_SEC = 900

/** The attempt this invocation may claim, the lane it must find, and what the attempt before was refused for. */
export interface OpenAttempt {
  readonly attempt: number
  readonly lane: number | null
  /** Why the attempt before was refused; its feedback goes into this one's prompt. */
  readonly failure?: BlockProjection['failure']
  /** Of the attempts before it, as the projection counts them. */
  readonly untried?: number
}

/**
 * Decides from the lane alone which attempt comes next (the attempt number lives in the store only): none -> 1; the same
 * one where a person let it go on;
 * retrying and due -> n + 1; claimed with a live lease -> RetryBlock with the rest; claimed with a dead lease -> the
 * attempt is lost and recorded as such, then n + 1 (docs/adr/0009).
 */
export async function findNextAttempt(call: BlockCall): Promise<OpenAttempt | 'lost_for_good'> {
  if (call.lane === undefined) return { attempt: 1, lane: call.raw_lane }
  if (call.resumed !== undefined) return resumedAttempt(call, call.resumed)
  const { attempt, phase } = readOrdinal(call.lane)
  const projection = await readOwnProjection(call, call.lane)
  if (phase === PHASE.retrying) {
    await untilDue(call, await dueNow(call, attempt, projection?.due_at))
    return { attempt: attempt + 1, lane: call.lane, ...carriedOn(projection) }
  }
  if (leaseLives(call, projection)) {
    throw retryIn(call, Date.parse(projection?.lease_until ?? '') - call.world.clock.now())
  }
  return recordLost(call, attempt, projection)
}

/** The same attempt, which a person let go on. */
function resumedAttempt({ raw_lane }: BlockCall, { ask }: Resumed): OpenAttempt {
  return { attempt: ask.attempt, lane: raw_lane, ...carriedOn(ask.projection) }
}

/** When the next try is due, once the time its run stood paused since has passed too. */
async function dueNow(call: BlockCall, attempt: number, due: string | undefined): Promise<string | undefined> {
  const { world, run, block, item, head } = call
  if (due === undefined || head.lanes[PAUSE_LANE] === undefined) return due
  const events = await allEvents(world, run)
  const retrying = events.findLast((event) => {
    const of = eventPosition(event)
    return event.type === 'block:retrying' && event.block_id === block.id && of.item === item && of.attempt === attempt
  })
  return retrying === undefined ? due : movedBy(due, stoodSince(events, retrying.at, world.clock.now()))
}

/** The machine's Wait does delays of a second and more; shorter ones are slept here. */
async function untilDue(call: BlockCall, due: string | undefined): Promise<void> {
  const { clock } = call.world
  const rest = due === undefined ? 0 : Date.parse(due) - clock.now()
  if (rest >= 1_000) throw retryIn(call, rest)
  if (rest > 0) await clock.delay(rest)
}

function retryIn(call: BlockCall, ms: number): MachineSignal {
  return retryBlock(call, Math.max(0, Math.min(MAX_WAIT_SEC, Math.ceil(ms / 1_000))))
}

function leaseLives({ world }: BlockCall, projection: BlockProjection | undefined): boolean {
  if (projection?.lease_until === undefined || projection.holder === undefined) return false
  return Date.parse(projection.lease_until) > world.clock.now() && !world.machine.holderGone(projection.holder)
}

/**
 * A lost attempt is no try of the block's `retry` and is made up for, until as many of one pass were lost as the safety
 * policy's cap of tries: a block that takes its process along each time must not run for ever. A step that may be done
 * once only is made up for by nobody but a person.
 */
async function recordLost(
  call: BlockCall,
  attempt: number,
  projection: BlockProjection | undefined,
): Promise<OpenAttempt | 'lost_for_good'> {
  if (isEffectUnknown(call)) throw await endLostInWork(call, attempt, projection)
  const { world } = call
  const at = new Date(world.clock.now()).toISOString()
  const untried = (projection?.untried ?? 0) + 1
  const most = world.settings.safety.max_attempts
  const again = untried < most
  const state = again ? ('retrying' as const) : ('failed' as const)
  const lane = ordinal({ ...readOrdinal(call.lane ?? 0), phase: PHASE[state] })
  const code = 'ATTEMPT_LOST'
  const bound = again ? '' : ` (the ${most} attempts that may be lost were)`
  const reason = `attempt ${attempt} was lost: its function ended without a result${bound}`
  const head = { ...eventBase(call), attempt }
  const failure = { code, reason, feedback: projection?.failure?.feedback ?? [] }
  // Nobody knows what its calls used: what was reserved for them stands for it.
  const { reserved = NOTHING } = projection ?? {}
  const spent = spentByLost(reserved)
  const done = await world.runs.append({
    ...appendBase(call),
    ordinal: lane,
    guard: { is: call.raw_lane },
    at,
    events: [
      again
        ? { ...head, type: 'block:retrying', data: { code, reason, due_at: at, ...spent } }
        : { ...head, type: 'block:failed', data: { code, reason, ...spent } },
    ],
    ...chargeFor(reserved, reserved),
    ...itemsUsage(call),
    ...freedByEnd(call),
    ...workOf(call, { reason }),
    projection: { ...laneOwnerOf(call), ordinal: lane, state, attempt, untried, due_at: at, failure },
  })
  if (!done.ok) throw retryBlock(call)
  return again ? { attempt: attempt + 1, lane, failure, untried } : 'lost_for_good'
}

/** Gives up an attempt that is claimed, whoever holds it: it is lost, and uses up no try. */
export async function loseAttempt(call: BlockCall, attempt: number): Promise<void> {
  if (call.lane !== undefined) await recordLost(call, attempt, await readOwnProjection(call, call.lane))
}

function carriedOn(projection: BlockProjection | undefined): Pick<OpenAttempt, 'failure' | 'untried'> {
  const { failure, untried } = projection ?? {}
  return { ...(failure === undefined ? {} : { failure }), ...(untried === undefined ? {} : { untried }) }
}
