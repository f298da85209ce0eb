import * as z from 'zod'
import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { MachineSignal } from '../../shared/errors.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { World } from '../../shared/world.ts'
import { readDecision } from '../approvals/read-decision.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { endIfOverdue } from '../runs/end-if-overdue.ts'
import { MachineInputSchema, runOf } from '../runs/machine-input.ts'
import { type BlockCall, openBlockCall, resolveBlockInputs, unmetUpstream } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded } from './block-report.ts'
import { claimAttempt } from './claim-attempt.ts'
import { endAttempt, type Failure, type Recorded } from './end-attempt.ts'
import { type Judged, judgeBlock } from './judge-block.ts'
import { openAttempt } from './open-attempt.ts'
import { failureOf, gateFailure, runAttempt } from './run-attempt.ts'
import { signalJoins } from './signal-joins.ts'
import { failFast, refuseBlock, skipBlock } from './without-attempt.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  joins: z.array(z.string()).max(1_000).default([]),
})

/**
 * The block state: the life of one attempt. Fence and upstream outcomes -> pre-gates -> approval -> claim -> dispatch
 * -> contract -> post-gates -> publish -> signal joins (architecture, "State machine"). Safe to invoke any number of
 * times: the lane in HEAD decides what is left to do.
 */
export const handler = functionHandler({ name: 'run-block', input: InputSchema, run: runBlock })

async function runBlock(event: z.infer<typeof InputSchema>, world: World, host: HostContext): Promise<BlockReport> {
  const call = await openBlockCall(world, runOf(event.in), event.block)
  const report = await advanceBlock(call, host.signal)
  await signalJoins(call, event.joins)
  return report
}

async function advanceBlock(call: BlockCall, signal: AbortSignal | undefined): Promise<BlockReport> {
  if (call.head.state !== 'running' || readOrdinal(call.lane ?? 0).outcome !== undefined) return reportRecorded(call)
  if (await endIfOverdue(call)) return reportRecorded(call)
  const unmet = unmetUpstream(call)
  if (unmet.length > 0) return skipBlock(call, unmet)
  const decision = await readDecision(call)
  if (decision.kind === 'refused') return refuseBlock(call, decision)
  return tryBlock(call, decision.kind === 'undecided', signal)
}

async function tryBlock(call: BlockCall, undecided: boolean, signal: AbortSignal | undefined): Promise<BlockReport> {
  const open = await openAttempt(call)
  const ready = await prepare(call, open.attempt)
  if (undecided && ready.failure === undefined) throw new MachineSignal('RetryBlock', { s: 0 })
  const claimed = await claimAttempt(call, open, ready, ready.pre)
  if (claimed === 'ended') return reportRecorded(call)
  const end =
    ready.failure === undefined
      ? await runAttempt(call, claimed, { values: ready.values, feedback: open.feedback, signal })
      : { attempt: open.attempt, verdicts: [], gate_events: [], failure: ready.failure }
  const recorded = await endAttempt(call, end)
  await whenNotDone(call, recorded, end.failure)
  const verdicts = [...ready.pre.verdicts, ...end.verdicts]
  return reportBlock(call, { state: recorded.state, attempt: open.attempt, seq: recorded.seq, verdicts })
}

interface Ready extends Awaited<ReturnType<typeof resolveBlockInputs>> {
  readonly hash: string
  readonly pre: Judged
  readonly failure?: Failure
}

const NOT_JUDGED: Judged = { verdicts: [], events: [], composed: { passed: true, failed: [], action: 'none' } }

/** Inputs and pre-gates of the attempt; what is wrong with them is recorded as its failure, after the claim. */
async function prepare(call: BlockCall, attempt: number): Promise<Ready> {
  try {
    const inputs = await resolveBlockInputs(call)
    const hash = sha256(canonicalJson(inputs.values))
    if (inputs.problems.length > 0) {
      const reason = `cannot start: ${inputs.problems.join('; ')}`
      const failure = { code: 'missing_input', reason, retry: false, feedback: [] }
      return { ...inputs, hash, pre: NOT_JUDGED, failure }
    }
    const measured = { cost_usd: null, latency_ms: null }
    const pre = await judgeBlock(call, 'pre', attempt, { inputs: inputs.values, outputs: {}, measured })
    return { ...inputs, hash, pre, ...(pre.composed.passed ? {} : { failure: gateFailure('pre', pre) }) }
  } catch (error) {
    const failure = failureOf(call, error)
    return { values: {}, problems: [], context_version: 0, hash: sha256('{}'), pre: NOT_JUDGED, failure }
  }
}

/** A retry leaves through the machine's Wait (short delays are slept at the next start); fail_fast ends the run. */
async function whenNotDone(call: BlockCall, recorded: Recorded, failure: Failure | undefined): Promise<void> {
  if (recorded.state === 'retrying') {
    const rest = Date.parse(recorded.due_at ?? '') - call.world.clock.now()
    if (rest > 0 && rest < 1_000) await call.world.clock.delay(rest)
    throw new MachineSignal('RetryBlock', { s: rest < 1_000 ? 0 : Math.ceil(rest / 1_000) })
  }
  if (recorded.state === 'failed' && failure !== undefined) await failFast(call, failure)
}
