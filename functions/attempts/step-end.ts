import { Fault } from '../../shared/errors.ts'
import { checkOutputs } from '../../shared/runs/block-outputs.ts'
import { NOTHING, plus } from '../../shared/runs/budget.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { type StepOrder, StepOrderSchema, type StepOutcome, StepOutcomeSchema } from '../../shared/steps/step-order.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { toMicros } from '../provider-call.ts'
import { readOwnProjection } from '../record/projections.ts'
import { type AttemptEnd, type Failure, type Produced, toFailure } from './attempt-outcome.ts'
import type { BlockCall } from './block-call.ts'
import { callKey } from './block-call.ts'
import { type BlockReport, reportBlock, retryBlock } from './block-report.ts'
import { findNextAttempt } from './claim.ts'
import { endAttempt, raiseUnlessDone } from './end.ts'
import { mediaType, numbered } from './handlers/store-artifact.ts'
import { judgeProduced } from './judge-gates.ts'
import { failureOfLostWork, isOnce } from './lost-step.ts'
import { cacheResult } from './reuse.ts'

/** Seconds, at most, between two looks for a place among the blocks that may run at once. */
const SLOT_WAIT_SEC = 15

/**
 * `_close_<id>` of a step: takes what its work came to -> contract -> post-gates -> publish. Without an outcome of the
 * attempt that is claimed the machine goes back to `<id>`: at once where it is lost, else when its lease is over.
 */
export async function closeStep(call: BlockCall, outcome_ref: string): Promise<BlockReport> {
  if (call.lane === undefined) throw retryBlock(call, slotWait(call))
  const { attempt, phase } = readOrdinal(call.lane)
  const outcome = phase === PHASE.retrying ? undefined : await readOutcome(call, attempt, outcome_ref)
  if (outcome === undefined) {
    // Due later, or not lost yet: the wait is the machine's.
    await findNextAttempt(call)
    throw retryBlock(call)
  }
  const order = await readOrder(call, outcome)
  const values = { ...order.beside, ...order.inputs }
  return recordOutcome(call, attempt, { outcome, outcome_ref, order, values, provider: 'step' })
}

/** Contract, post-gates and record of what the work of the attempt that is claimed came to. */
export async function recordOutcome(call: BlockCall, attempt: number, worked: Worked): Promise<BlockReport> {
  const { outcome } = worked
  call.world.log.note?.({ attempt, epoch: call.epoch })
  const claimed = call.lane === undefined ? undefined : await readOwnProjection(call, call.lane)
  const end = askIfCutOff(call, await endOf(call, attempt, worked), claimed?.untried)
  // What a gate refused is nobody's artifact; what a person is asked about becomes one with their yes.
  if (end.failure === undefined) await keepArtifacts(call, attempt, outcome)
  const { inputs_hash: hash, untried, reserved = NOTHING } = claimed ?? {}
  call.meter.reserved = plus(call.meter.reserved, reserved)
  const recorded = await endAttempt(call, end, { hash, untried })
  await raiseUnlessDone(call, recorded, end.failure)
  if (recorded.state === 'completed' && hash !== undefined) await cacheResult(call, hash, end)
  return reportBlock(call, { state: recorded.state, attempt, seq: recorded.seq, verdicts: end.verdicts })
}

/** Nothing is claimed: when as many blocks run as may, it was refused and asks again, spread over seconds. */
export function slotWait({ world, meta, head }: BlockCall): number {
  const { max_parallel } = meta.options
  const isFull = max_parallel > 0 && head.running.length >= max_parallel
  return isFull ? 1 + ((world.ids.random(1)[0] ?? 0) % SLOT_WAIT_SEC) : 0
}

/** What the work of this attempt came to; undefined: nobody said, or it is another attempt's. */
export async function readOutcome(call: BlockCall, attempt: number, ref: string): Promise<StepOutcome | undefined> {
  if (ref === '') return undefined
  const body = await call.world.objects.get(call.run.tenant, ref)
  const read = StepOutcomeSchema.safeParse(JSON.parse(Buffer.from(body).toString('utf8')))
  if (!read.success || read.data.key !== callKey(call, attempt, 0)) return undefined
  const { stored_bytes, ...outcome } = read.data
  // The run pays for what tells of its work as well.
  return { ...outcome, stored_bytes: stored_bytes + body.byteLength }
}

async function readOrder(call: BlockCall, { order_ref }: StepOutcome): Promise<StepOrder> {
  return StepOrderSchema.parse(await readObject(call, order_ref))
}

export async function readObject({ world, run }: BlockCall, ref: string): Promise<unknown> {
  return JSON.parse(Buffer.from(await world.objects.get(run.tenant, ref)).toString('utf8'))
}

interface Worked {
  /** Absent: no object tells of it. */
  readonly outcome_ref?: string | undefined
  readonly outcome: StepOutcome
  readonly order: StepOrder
  /** What gates see besides the outputs. */
  readonly values: Readonly<Record<string, Json>>
  /** Who did the work, as the record has it. */
  readonly provider: 'step' | 'aws'
}

async function endOf(call: BlockCall, attempt: number, worked: Worked): Promise<AttemptEnd> {
  const { outcome, outcome_ref, order, values, provider } = worked
  const told = outcome_ref === undefined ? {} : { outcome_ref }
  const facts = { ...factsOf(outcome, order), provider, ...told }
  const { latency_ms, outputs, failure } = outcome
  call.storage.stored(outcome.stored_bytes)
  try {
    if (outputs === undefined) {
      const output = { outputs: {}, ...facts, latency_ms }
      return { attempt, output, verdicts: [], gate_events: [], failure: failureOf(failure) }
    }
    return await judgeProduced(
      call,
      attempt,
      values,
      { ...checkOutputs(outputs, call.block.outputs), facts },
      latency_ms,
    )
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: toFailure(call, error) }
  }
}

function factsOf({ usd, log, failure }: StepOutcome, { name, hash, config }: StepOrder): Produced['facts'] {
  return {
    provider: 'step',
    model: name,
    params_hash: sha256(canonicalJson(config)),
    prompt_hash: hash,
    tokens_in: 0,
    tokens_out: 0,
    usd_micros: toMicros(usd ?? 0),
    finish_reason: failure?.code ?? 'returned',
    ...(log === undefined ? {} : { log }),
  }
}

function failureOf(failure: StepOutcome['failure']): Failure {
  const {
    code = 'step_answer',
    reason = 'the step ended without an answer',
    retry = true,
    retry_after_ms,
  } = failure ?? {}
  const after = retry_after_ms === undefined ? {} : { retry_after_ms }
  return { code, reason, retry, feedback: [reason], ...after }
}

/** Ends of a step that it did not say itself: it was cut off somewhere in its work. */
const CUT_OFF: ReadonlySet<string> = new Set(['block_timeout', 'step_crashed', 'step_memory'])

/** Whether another try is left or not: work that may be done once only is made again by a person's yes alone. */
function askIfCutOff(call: BlockCall, end: AttemptEnd, untried = 0): AttemptEnd {
  const { failure, attempt } = end
  if (failure === undefined || !isOnce(call.block) || !CUT_OFF.has(failure.code)) return end
  return { ...end, failure: failureOfLostWork(call, attempt, untried, failure.reason) }
}

/** Of an attempt that people let complete after its gates had asked. */
export async function keepWaivedArtifacts(call: BlockCall, attempt: number, outcome_ref: string): Promise<void> {
  await keepArtifacts(call, attempt, StepOutcomeSchema.parse(await readObject(call, outcome_ref)))
}

/** Its files are artifacts of the run from here on; those of an attempt that returned nothing stay objects. */
async function keepArtifacts(
  { world, run, block, epoch, item, acting }: BlockCall,
  attempt: number,
  { artifacts }: StepOutcome,
): Promise<void> {
  const place = { ...(epoch === 0 ? {} : { epoch }), ...(item === undefined ? {} : { item }) }
  const passed = { ...place, ...(acting?.call?.tainted === true ? { tainted: true as const } : {}) }
  for (const { name, ref, sha256: hash, bytes, media_type = mediaType(name) } of artifacts) {
    const own = item === undefined ? name : numbered(name, item)
    await world.runs.putArtifact(run, {
      name: own,
      ref,
      sha256: hash,
      bytes,
      media_type,
      block_id: block.id,
      attempt,
      ...passed,
    })
  }
}
