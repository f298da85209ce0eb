import * as z from 'zod'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import { portValues } from '../../shared/runs/block-inputs.ts'
import { attemptLimit } from '../../shared/runs/caps.ts'
import type { StepOrder } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { advanceLane, failBlockOnFault } from './advance.ts'
import { type AttemptEnd, toFailure } from './attempt-outcome.ts'
import { type BegunAttempt, beginAttempt, endWithoutWork, finishBegun } from './begin-attempt.ts'
import { type BlockCall, callKey, roomOf, toldKey } from './block-call.ts'
import { type BlockReport, reportBlock, retryBlock } from './block-report.ts'
import { type Claimed, claimAttempt, findNextAttempt, placeOfAttempt } from './claim.ts'
import { isHeld } from './hold.ts'
import { openBlockCall } from './open-block-call.ts'

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
    if (isHeld(call, 'close') || !(await isAwaiting(call, token, host))) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

async function isAwaiting(call: BlockCall, token: string, host: HostContext): Promise<boolean> {
  const open = (now: BlockCall, undecided: boolean) => tryStep(now, token, undecided, host.signal)
  try {
    const report = await failBlockOnFault(call, host, () => advanceLane(call, open))
    return report.state === 'running'
  } catch (error) {
    // The state that waits knows neither RetryBlock nor AskPerson: `_close_<id>` finds the same and raises it.
    if (error instanceof MachineSignal) return false
    throw error
  }
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
  const begun = await beginAttempt(call, open, { undecided, claim: (ready) => claimAttempt(call, open, ready, signal) })
  if (!('ready' in begun)) return begun
  const end = await startedOrOver(call, { ...begun, untried: open.untried, token, signal })
  if (end !== 'started') return finishBegun(call, begun, end)
  return reportBlock(call, { state: 'running', attempt: open.attempt, seq: begun.claim.seq, verdicts: [] })
}

interface ClaimedStep extends BegunAttempt<Claimed> {
  readonly untried: number | undefined
  readonly token: string
  readonly signal: AbortSignal | undefined
}

/** Its work is under way, or it is over without: it could not begin, or a kept result stands in for it. */
async function startedOrOver(call: BlockCall, step: ClaimedStep): Promise<AttemptEnd | 'started'> {
  const { attempt, signal } = step
  try {
    const over = await endWithoutWork(call, step)
    if (over !== undefined) return over
    await start(call, step)
    return 'started'
  } catch (error) {
    if (signal?.aborted === true) throw error
    return { attempt, verdicts: [], gate_events: [], failure: toFailure(call, error) }
  }
}

interface OrderedWith extends Pick<StepOrder, 'room_bytes'> {
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
  readonly untried: number | undefined
}

async function start(call: BlockCall, { claim: claimed, ready, feedback, token, untried }: ClaimedStep): Promise<void> {
  const { world, storage, run } = call
  const { step, handler: name } = requireStep(call)
  const { values } = ready
  const order = orderOf(call, claimed.attempt, { values, feedback, untried, room_bytes: await roomOf(call) })
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

function orderOf(call: BlockCall, attempt: number, { values, feedback, untried, room_bytes }: OrderedWith) {
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
    told_key: toldKey(call, attempt, untried),
    attempt,
    timeout_ms: attemptLimit(call.block, call.world.settings.safety).ms,
    room_bytes,
  } satisfies StepOrder
}
