import type { Wait } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { checkOutputs } from '../../shared/runs/block-outputs.ts'
import { isOpenWait, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { EVENT_LIMITS } from '../../shared/runs/outside-event.ts'
import type { WaitNote } from '../../shared/runs/run-store-items.ts'
import { callbackValues } from '../../shared/runs/wait-outputs.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { readOwnProjection } from '../record/projections.ts'
import { endDueWait, findWait } from '../runs/waits.ts'
import { type AttemptEnd, type Failure, type Produced, toFailure } from './attempt-outcome.ts'
import { type BlockCall, laneOwnerOf, readHead } from './block-call.ts'
import { type BlockReport, reportBlock, retryBlock } from './block-report.ts'
import { findNextAttempt } from './claim.ts'
import { endAttempt, raiseUnlessDone } from './end.ts'
import { readStoredInputs } from './inputs.ts'
import { judgeProduced } from './judge-gates.ts'

/** The machine's clock and the store's may differ a little: a wait that is over so soon is waited for here. */
const NEARLY_MS = 5_000

/**
 * `_close_<id>` of a `mode: wait` block, and `_item_close_<id>` of an item of one: takes what came -> contract ->
 * post-gates -> publish. Whoever comes here because the state's time-out was over ends the wait by its time. A wait that is
 * open still goes on where it began.
 */
export async function closeWait(call: BlockCall): Promise<BlockReport> {
  if (call.lane === undefined || call.resumed !== undefined) throw retryBlock(call)
  const { attempt, phase } = readOrdinal(call.lane)
  if (phase === PHASE.retrying) {
    // Due later: the wait is the machine's.
    await findNextAttempt(call)
    throw retryBlock(call)
  }
  if (phase < PHASE.waiting) throw retryBlock(call)
  call.world.log.note?.({ attempt, epoch: call.epoch })
  const now = isOpenWait(call.lane) ? await endIfDue(call, attempt) : call
  return recordWoken(now, attempt)
}

async function endIfDue(call: BlockCall, attempt: number): Promise<BlockCall> {
  const { world, run, epoch } = call
  const open = await findWait(world, run, { ...laneOwnerOf(call), epoch, attempt })
  if (open !== undefined) {
    const left = Date.parse(open.until) - world.clock.now()
    if (left > NEARLY_MS) throw retryBlock(call)
    if (left > 0) await world.clock.delay(left)
    await endDueWait(world, open)
  }
  const now = await readHead(call)
  // Somebody stopped it meanwhile, or ended it and was faster with the rest: the next call finds that.
  if (now.lane === undefined || readOrdinal(now.lane).outcome !== undefined || isOpenWait(now.lane))
    throw retryBlock(now)
  return now
}

async function recordWoken(call: BlockCall, attempt: number): Promise<BlockReport> {
  const claimed = await readOwnProjection(call, call.lane ?? 0)
  const note = claimed?.wait
  if (note?.came === undefined) throw new Fault('Bug', 'not_woken', `Wait of block "${call.block.id}" has no end.`)
  const end = await judgeWoken(call, attempt, note)
  const recorded = await endAttempt(call, end, { hash: claimed?.inputs_hash, untried: claimed?.untried })
  await raiseUnlessDone(call, recorded, end.failure)
  return reportBlock(call, { state: recorded.state, attempt, seq: recorded.seq, verdicts: end.verdicts })
}

async function judgeWoken(call: BlockCall, attempt: number, note: WaitNote): Promise<AttemptEnd> {
  try {
    const { values } = await readStoredInputs(call, note.inputs_ref)
    return await wokenEnd(call, attempt, note, values)
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: toFailure(call, error) }
  }
}

async function wokenEnd(
  call: BlockCall,
  attempt: number,
  note: WaitNote,
  inputs: Readonly<Record<string, Json>>,
): Promise<AttemptEnd> {
  const { block, world } = call
  if (block.mode !== 'wait') throw new Fault('Bug', 'no_wait', `Block "${block.id}" does not wait.`)
  const { came } = note
  const latency_ms = Math.max(0, world.clock.now() - Date.parse(note.since))
  const failure = failureOf(block.wait, note)
  if (failure !== undefined) return { attempt, verdicts: [], gate_events: [], failure }
  const payload = came?.payload === undefined ? undefined : await readPayload(call, came.payload.ref)
  const values = payload === undefined ? {} : callbackValues(payload, block.outputs)
  const end = await judgeProduced(
    call,
    attempt,
    inputs,
    { ...checkOutputs(values, block.outputs), facts: factsOf(note) },
    latency_ms,
  )
  // The address of a callback is used up: another attempt would read the same body again.
  const isFinal = end.failure !== undefined && came?.by === 'callback'
  return isFinal && end.failure !== undefined ? { ...end, failure: { ...end.failure, retry: false } } : end
}

/** What came, or did not come, makes the block fail whatever its outputs are. */
function failureOf(wait: Wait, { name, until, came }: WaitNote): Failure | undefined {
  if (came?.by === 'time' && 'on_timeout' in wait && wait.on_timeout === 'fail') {
    const reason = shortRedacted(`${WHAT[wait.kind]} did not come in time, until ${until}`)
    return { code: 'wait_timeout', reason, retry: true, feedback: [] }
  }
  if (came?.by !== 'limit') return undefined
  const { judged } = EVENT_LIMITS
  const reason = `cannot look at all events ${name} that are kept: there are more than ${judged}, and its match is true of none of the newest; give them a key`
  return { code: 'wait_kept_too_many', reason: shortRedacted(reason), retry: false, feedback: [] }
}

const WHAT = { event: 'the event it waits for', callback: 'its callback' } as const

async function readPayload({ world, run }: BlockCall, ref: string): Promise<Json> {
  return JSON.parse(Buffer.from(await world.objects.get(run.tenant, ref)).toString('utf8'))
}

function factsOf({ for: kind, name, came }: WaitNote): Produced['facts'] {
  const hash = sha256(canonicalJson(name ?? kind))
  return {
    provider: 'wait',
    model: kind,
    params_hash: hash,
    prompt_hash: hash,
    tokens_in: 0,
    tokens_out: 0,
    usd_micros: 0,
    finish_reason: came?.by === 'time' && kind !== 'time' ? 'timeout' : 'stop',
    ...(came?.event_id === undefined ? {} : { note: `event ${came.event_id}` }),
  }
}
