import type { Verdict } from '../../shared/gates/gate.ts'
import { dueBounceRule, spentBounceWords } from '../../shared/runs/bounce-rules.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { itemsNow } from '../../shared/runs/head.ts'
import { moduleLane, ordinal, PHASE, readOrdinal, workingLeg } from '../../shared/runs/lane.ts'
import { attemptCap, retryDelayMs } from '../../shared/runs/retry.ts'
import type { LaneStands } from '../../shared/runs/run-store.ts'
import type { BlockProjection, BlockState } from '../../shared/runs/run-store-items.ts'
import { outputOrigin, readOwnProjection } from '../record/projections.ts'
import { endRun } from '../runs/end-run.ts'
import { workOf } from './agents/attempt-work.ts'
import type { AttemptEnd, Failure, Recorded } from './attempt-outcome.ts'
import {
  appendBase,
  type BlockCall,
  type BlockInputs,
  endStep,
  eventBase,
  foreachOf,
  freedByEnd,
  laneOwnerOf,
  mostFailedItems,
  unaskedCondition,
} from './block-call.ts'
import { askPerson, type BlockReport, reportBlock, retryBlock } from './block-report.ts'
import { bounceFacts } from './bounce.ts'
import { appendWithUse, eventsWithUse } from './budget.ts'
import { recordWithClaim } from './claim-with-end.ts'
import { questionFor } from './question.ts'
import { cacheResult } from './reuse.ts'

/** What the values an attempt works with are told as. */
interface WorkedWith {
  readonly hash: string | undefined
  /** Kept where a person is asked before they are used. */
  readonly inputs?: BlockInputs
  /** As its claim has it, where another invocation made that. */
  readonly untried?: number | undefined
}

/**
 * Records the end of an attempt in one update: output, verdicts and completed, retrying, asked or failed. Published
 * outputs appear only with block:completed. Refused (the run ended, or the attempt was superseded): the result is dropped; of an
 * attempt that was superseded RetryBlock.
 */
export async function endAttempt(
  call: BlockCall,
  given: AttemptEnd,
  { hash, inputs, untried: claimed = 0 }: WorkedWith,
): Promise<Recorded> {
  const { world, epoch } = call
  const { attempt } = given
  const { leg, first } = endStep(call, attempt)
  const ask = await questionFor(call, { failure: given.failure, leg, inputs })
  const end = ask === undefined ? given : { ...given, ask }
  const untried = call.meter.claim?.untried ?? claimed
  const outcome = attemptOutcome(call, end, untried)
  const told = eventsWithUse(call, attempt, outcome.event)
  const lane = ordinal({ epoch, attempt, leg, phase: PHASE[outcome.state] })
  const output: NewEvent[] =
    end.output === undefined ? [] : [{ type: 'block:output', ...eventBase(call), attempt, data: end.output }]
  const projection: BlockProjection = {
    ...laneOwnerOf(call),
    ordinal: lane,
    attempt,
    ...outcome.projection,
    ...(untried === 0 ? {} : { untried }),
    ...(hash === undefined ? {} : { inputs_hash: hash }),
    ...publishedBy(end),
    ...(ask === undefined ? {} : await keptForAnswer(call)),
  }
  const done = await recordWithClaim(
    call,
    { epoch, attempt, leg, phase: first },
    [...output, ...end.gate_events, ...told.events],
    {
      ...appendBase(call),
      ordinal: lane,
      guard: { below: ordinal({ epoch, attempt, leg, phase: PHASE.retrying }) },
      at: new Date(world.clock.now()).toISOString(),
      // Items stay until the block has ended.
      ...(ask === undefined ? freedByEnd(call, { goes_on: outcome.state === 'retrying' }) : { end: laneOwnerOf(call) }),
      ...(end.deadline_at === undefined ? {} : { deadline_at: end.deadline_at }),
      ...told.share,
      ...workOf(call, { ...end.came, reason: end.failure?.reason }),
      projection,
    },
    told.reserved,
  )
  // Superseded: the block goes on under another attempt, and the machine must not go on before it has ended.
  if (!done.ok && done.because !== 'terminal' && done.because !== 'items_failed') throw retryBlock(call)
  if (!done.ok) return { state: 'cancelled', seq: call.head.seq }
  return { state: outcome.state, seq: done.seq, ...(outcome.due_at === undefined ? {} : { due_at: outcome.due_at }) }
}

interface Beginning {
  readonly inputs_hash: string
  readonly inputs?: BlockInputs
  /** Verdicts of its pre-gates. */
  readonly before: readonly Verdict[]
}

/** Records how an attempt ended, and does what follows from it: another try, the end of the run, a result to keep. */
export async function finishAttempt(
  call: BlockCall,
  end: AttemptEnd,
  { inputs_hash, inputs, before }: Beginning,
): Promise<BlockReport> {
  const recorded = await endAttempt(call, end, { hash: inputs_hash, ...(inputs === undefined ? {} : { inputs }) })
  await raiseUnlessDone(call, recorded, end.failure)
  if (recorded.state === 'completed') await cacheResult(call, inputs_hash, end)
  const { state, seq } = recorded
  return reportBlock(call, { state, attempt: end.attempt, seq, verdicts: [...before, ...end.verdicts] })
}

interface Decided {
  readonly state: 'completed' | 'failed' | 'retrying' | 'asked'
  readonly event: NewEvent
  readonly projection: Pick<BlockProjection, 'state' | 'failure' | 'due_at' | 'asked'>
  readonly due_at?: string
}

/**
 * Completed, or asked about, or tried again while a failure that may pass has tries left, else failed. `untried`: attempts
 * that used up none (docs/adr/0009).
 */
function attemptOutcome(call: BlockCall, end: AttemptEnd, untried: number): Decided {
  const { attempt, failure, cached_from, ask } = end
  const head = { ...eventBase(call), attempt }
  if (ask !== undefined) {
    const { approval_id, about, inputs_ref } = ask
    const asked = { approval_id, about, ...(inputs_ref === undefined ? {} : { inputs_ref }) }
    return {
      state: 'asked',
      event: { ...head, type: 'block:asked', data: ask },
      projection: { state: 'paused_approval', asked },
    }
  }
  if (failure === undefined) {
    return {
      state: 'completed',
      event: { ...head, type: 'block:completed', data: cached_from === undefined ? {} : { cached_from } },
      projection: { state: 'completed' },
    }
  }
  return failedOutcome(call, { attempt, untried }, failure)
}

interface Tries {
  readonly attempt: number
  readonly untried: number
}

function failedOutcome(call: BlockCall, tried: Tries, failure: Failure): Decided {
  const { attempt, untried } = tried
  const { block, world } = call
  const head = { ...eventBase(call), attempt }
  const { cap, capped } = attemptCap(block.retry, world.settings.safety.max_attempts)
  const { code, feedback, gates } = failure
  const why = { code, feedback, ...(gates === undefined ? {} : { gates }) }
  if (failure.retry && attempt - untried < cap) {
    const due_at = new Date(world.clock.now() + delayMs(call, attempt - untried, failure)).toISOString()
    const { reason } = failure
    const projection = { state: 'retrying' as const, due_at, failure: { ...why, reason } }
    return {
      state: 'retrying',
      event: { ...head, type: 'block:retrying', data: { code, reason, due_at } },
      projection,
      due_at,
    }
  }
  const tries = triesWords(tried, cap, capped ? block.retry.max_attempts : undefined)
  const reason = `${failure.reason}${tries}${spentBounceWords(bounceFacts(call, gates ?? []))}`
  const projection = { state: 'failed' as const, failure: { ...why, reason } }
  return { state: 'failed', event: { ...head, type: 'block:failed', data: { code, reason } }, projection }
}

function triesWords({ attempt, untried }: Tries, cap: number, lowered: number | undefined): string {
  const by = lowered === undefined ? '' : `, lowered from ${lowered} by the safety policy`
  if (untried > 0) return ` (try ${attempt - untried} of ${cap}${by}; attempts that were no try: ${untried})`
  return attempt > 1 || lowered !== undefined ? ` (attempt ${attempt} of ${cap}${by})` : ''
}

function delayMs({ block, world }: BlockCall, tries: number, failure: Failure): number {
  const random = (world.ids.random(1)[0] ?? 0) / 256
  return Math.max(retryDelayMs(block.retry, tries, random), failure.retry_after_ms ?? 0)
}

/** Where it failed nobody takes its outputs over: what they came of is left to the events. */
function publishedBy({ output, stored, ask, failure }: AttemptEnd): Pick<BlockProjection, 'outputs' | 'made'> {
  const all = output === undefined ? (stored ?? {}) : { outputs: output.outputs, made: outputOrigin(output) }
  if (failure === undefined || ask !== undefined) return all
  return all.outputs === undefined ? {} : { outputs: all.outputs }
}

/** What an attempt that goes on after an answer is still of: its items or child, and what the try before it was told. */
async function keptForAnswer(call: BlockCall): Promise<Pick<BlockProjection, 'items' | 'child' | 'failure'>> {
  const { lane, meter } = call
  const before = meter.claim ?? (lane === undefined ? undefined : await readOwnProjection(call, lane))
  const { items, child, failure } = before ?? {}
  return {
    ...(items === undefined ? {} : { items }),
    ...(child === undefined ? {} : { child }),
    ...(failure === undefined ? {} : { failure }),
  }
}

/**
 * A retry leaves through the machine's Wait (short delays are slept at the next start), a question through its wait for
 * an answer; fail_fast ends the run. An item whose block cannot succeed any more is not tried again: nobody waits for it.
 */
export async function raiseUnlessDone(
  call: BlockCall,
  recorded: Recorded,
  failure: Failure | undefined,
): Promise<void> {
  if (recorded.state === 'retrying' && (await isGivenUp(call))) return
  if (recorded.state === 'retrying') {
    const rest = Date.parse(recorded.due_at ?? '') - call.world.clock.now()
    if (rest > 0 && rest < 1_000) await call.world.clock.delay(rest)
    throw retryBlock(call, rest < 1_000 ? 0 : Math.ceil(rest / 1_000))
  }
  if (recorded.state === 'asked') throw askPerson(call)
  if (recorded.state === 'failed' && failure !== undefined) await failFast(call, failure)
}

/** With the run option fail_fast, the first failed block ends the run and stops its siblings; not one that is sent back. */
export async function failFast(
  call: BlockCall,
  why: { readonly code: string; readonly reason: string; readonly gates?: readonly string[] },
): Promise<void> {
  if (!call.meta.options.fail_fast || (await isTolerated(call))) return
  if (dueBounceRule(bounceFacts(call, why.gates ?? [])) !== undefined) return
  const { world, run, block } = call
  const reason = `Block "${block.id}" failed: ${why.reason}`
  await endRun(world, run, { state: 'failed', code: why.code, reason, block_id: block.id, stop: true })
}

/** The same for a failure that is recorded: whoever wrote it may have died before it could end the run. */
export async function failFastRecorded(call: BlockCall): Promise<void> {
  const { meta, head, lane } = call
  if (!meta.options.fail_fast || head.state !== 'running' || lane === undefined) return
  if (readOrdinal(lane).outcome !== 'failed') return
  const projection = await readOwnProjection(call, lane)
  await failFast(call, projection?.failure ?? { code: 'block_failed', reason: 'its record names no reason' })
}

/** A failed item ends nothing while no more have failed than its block tolerates. */
async function isTolerated(call: BlockCall): Promise<boolean> {
  if (call.item === undefined) return false
  // Its agent goes on from it, or fails by it.
  if (call.acting !== undefined) return true
  const now = await readItemsNow(call)
  return now === undefined || now.failed <= (foreachOf(call)?.tolerate ?? 0)
}

/** Whether this is an item of which no further try is dispatched, as HEAD is now. */
async function isGivenUp(call: BlockCall): Promise<boolean> {
  const most = mostFailedItems(call)
  if (most === undefined) return false
  const now = await readItemsNow(call)
  return now !== undefined && now.failed > most
}

/**
 * An item whose provider is left alone (its circuit breaker is open) waits for it with the tries it has. Where an item
 * before it has spent all of its own and failed, the others do not wait one after the other: the try was the last.
 */
export async function lastWhereLeftAlone(call: BlockCall, failure: Failure): Promise<Failure> {
  if (failure.not_asked !== true || !failure.retry || mostFailedItems(call) === undefined) return failure
  const now = await readItemsNow(call)
  return now === undefined || now.failed === 0 ? failure : { ...failure, retry: false }
}

async function readItemsNow({ world, run, block, epoch }: BlockCall): Promise<ReturnType<typeof itemsNow> | undefined> {
  const head = await world.runs.head(run)
  return head === undefined ? undefined : itemsNow(head, block.index, epoch)
}

/** Records why this block never starts: an upstream did not complete, or its own condition is not true. */
export function skipBlock(call: BlockCall, data: EventData<'block:skipped'>): Promise<BlockReport> {
  return endWithout(call, 'skipped', { type: 'block:skipped', block_id: call.block.id, data })
}

/** Records that a person (or the expiry of the question) refused this block: it fails without being dispatched. */
export async function refuseBlock(
  call: BlockCall,
  { code, reason, gates }: { readonly code: string; readonly reason: string; readonly gates?: readonly string[] },
): Promise<BlockReport> {
  const event: NewEvent = { type: 'block:failed', ...eventBase(call), data: { code, reason } }
  const named = gates === undefined ? {} : { gates }
  const report = await endWithout(call, 'failed', event, { code, reason, feedback: [reason], ...named })
  if (report.state === 'failed') await failFast(call, { code, reason, ...named })
  return report
}

/** What was stopped stays stopped in every further pass of its bounce module. */
export async function keepStopped(call: BlockCall): Promise<BlockReport> {
  const [before] = await call.world.runs.projections(call.run, [call.block.index])
  const { code, reason } = before?.failure ?? { code: 'stopped', reason: 'stopped in an earlier pass' }
  const failure = { code, reason }
  return endWithout(call, 'cancelled', { type: 'block:cancelled', ...eventBase(call), data: failure }, failure)
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
    ...appendBase(call),
    ordinal: at,
    guard: { is: call.raw_lane },
    while: [...whileNotSentBack(call), ...unaskedCondition(call)],
    at: new Date(world.clock.now()).toISOString(),
    ...appendWithUse(call, attempt, event),
    ...freedByEnd(call),
    ...workOf(call, { reason: failure?.reason }),
    projection: { ...laneOwnerOf(call), ordinal: at, state, attempt, ...(failure === undefined ? {} : { failure }) },
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
