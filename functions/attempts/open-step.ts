import * as z from 'zod'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import { portValues } from '../../shared/runs/block-inputs.ts'
import { attemptLimit } from '../../shared/runs/caps.ts'
import type { StepOrder } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { advanceBlock, failBlockOnFault, isOver, resumeAfterAnswer } from './advance.ts'
import { type AttemptEnd, toFailure } from './attempt-outcome.ts'
import { type BlockCall, callKey, roomOf } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded, retryBlock } from './block-report.ts'
import { attemptFeedback } from './bounce.ts'
import { type Claimed, claimAttempt, findNextAttempt, placeOfAttempt } from './claim.ts'
import { finishAttempt, skipBlock } from './end.ts'
import { mayHaveItems } from './inputs.ts'
import { openBlockCall } from './open-block-call.ts'
import { askUnlessOver, type PreparedAttempt, prepareAttempt } from './prepare.ts'
import { endFromCache } from './reuse.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  token: z.string().min(1),
  e: z.int().min(0).optional(),
  item: z.int().min(0).optional(),
})

/**
 * `<id>` of a block, or of one item, whose handler is code of the project: claims the attempt and hands its work to where
 * that code runs, which answers the task token. Where there is nothing to wait for (a skip, a refusal, a failure before the
 * work, a retry that is not due) the token is answered at once and `_close_<id>` does the rest (docs/adr/0071).
 */
export const handler = functionHandler({
  name: 'open-step',
  input: InputSchema,
  async run({ in: input, token, ...place }, world, host) {
    const call = await openBlockCall(world, toRunKey(input), place, host.signal)
    if (!(await isAwaiting(call, token, host))) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

async function isAwaiting(call: BlockCall, token: string, host: HostContext): Promise<boolean> {
  const open = (now: BlockCall, undecided: boolean) => tryStep(now, token, undecided, host.signal)
  try {
    const report = await failBlockOnFault(call, host, () =>
      call.item === undefined ? advanceBlock(call, open) : openItem(call, (now) => open(now, false)),
    )
    return report.state === 'running'
  } catch (error) {
    // The state that waits knows neither RetryBlock nor AskPerson: `_close_<id>` finds the same and raises it.
    if (error instanceof MachineSignal) return false
    throw error
  }
}

async function openItem(call: BlockCall, open: (now: BlockCall) => Promise<BlockReport>): Promise<BlockReport> {
  if (!mayHaveItems(call) || (await isOver(call))) return reportRecorded(call)
  return resumeAfterAnswer(call, open)
}

/** The next attempt, from its claim to where its work is handed over. State `running` in the report: the token waits for it. */
async function tryStep(
  call: BlockCall,
  token: string,
  undecided: boolean,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') throw retryBlock(call)
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await prepareAttempt(call, open.attempt)
  if (ready.unwanted === true) return skipBlock(call, { because: [], condition: 'when' })
  if (undecided) await askUnlessOver(call, ready)
  const feedback = await attemptFeedback(call, open.failure)
  const claimed = await claimAttempt(call, open, ready, signal)
  if (claimed === 'ended') return reportRecorded(call)
  const end = await startedOrOver(call, { claimed, ready, feedback, token, signal })
  if (end === 'started') {
    return reportBlock(call, { state: 'running', attempt: open.attempt, seq: claimed.seq, verdicts: [] })
  }
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}

interface ClaimedStep {
  readonly claimed: Claimed
  readonly ready: PreparedAttempt
  readonly feedback: readonly string[]
  readonly token: string
  readonly signal: AbortSignal | undefined
}

/** Its work is under way, or it is over without: it could not begin, or a kept result stands in for it. */
async function startedOrOver(call: BlockCall, step: ClaimedStep): Promise<AttemptEnd | 'started'> {
  const { claimed, ready, feedback, signal } = step
  const bare = { attempt: claimed.attempt, verdicts: [], gate_events: [] }
  if (ready.failure !== undefined) return { ...bare, failure: ready.failure }
  if (ready.taken !== undefined) return ready.taken
  try {
    const work = { values: ready.values, inputs_hash: ready.hash, feedback, signal, attempt: claimed.attempt }
    const kept = await endFromCache(call, work)
    if (kept !== undefined) return kept
    await start(call, step)
    return 'started'
  } catch (error) {
    if (signal?.aborted === true) throw error
    return { ...bare, failure: toFailure(call, error) }
  }
}

interface OrderedWith extends Pick<StepOrder, 'room_bytes'> {
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
}

async function start(call: BlockCall, { claimed, ready, feedback, token }: ClaimedStep): Promise<void> {
  const { world, storage, run } = call
  const { step, handler: name } = requireStep(call)
  const order = orderOf(call, claimed.attempt, { values: ready.values, feedback, room_bytes: await roomOf(call) })
  const { ref: order_ref } = await storage.bounded.objects.put(run.tenant, Buffer.from(JSON.stringify(order)))
  const place = placeOfAttempt(call, claimed)
  await world.steps.start({ name, hash: step.hash }, { place, order_ref, token })
}

/** A document is bound to what a place knows of its steps when a run starts: without that nobody knows which code is meant. */
function requireStep({ block }: BlockCall) {
  if (block.mode === 'deterministic' && block.step !== undefined) return { ...block, step: block.step }
  const message = `Cannot run block "${block.id}": its run began without knowing the code of its step. Start the run again.`
  throw new Fault('Bug', 'step_not_described', message)
}

function orderOf(call: BlockCall, attempt: number, { values, feedback, room_bytes }: OrderedWith) {
  const { step, handler: name, config } = requireStep(call)
  const inputs = portValues(call.block, values)
  const beside = Object.fromEntries(Object.entries(values).filter(([port]) => !Object.hasOwn(inputs, port)))
  return {
    v: 1,
    name,
    hash: step.hash,
    kind: step.kind,
    inputs,
    beside,
    config,
    feedback: [...feedback],
    key: callKey(call, attempt, 0),
    attempt,
    timeout_ms: attemptLimit(call.block, call.world.settings.safety).ms,
    room_bytes,
  } satisfies StepOrder
}
