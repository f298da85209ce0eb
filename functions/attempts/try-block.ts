import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Verdict } from '../../shared/gates/gate.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import { portValues } from '../../shared/runs/block-inputs.ts'
import { checkOutputs } from '../../shared/runs/block-outputs.ts'
import { attemptLimit } from '../../shared/runs/caps.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { dispatchTurn } from './agents/agent-turn.ts'
import { dispatchToolCall } from './agents/tool-call.ts'
import { dispatchAgent } from './ask-agent.ts'
import { type AttemptEnd, type Dispatch, type Produced, toFailure } from './attempt-outcome.ts'
import { type BegunAttempt, beginAttempt, endWithoutWork, finishBegun } from './begin-attempt.ts'
import { type BlockCall, callKey } from './block-call.ts'
import { type BlockReport, reportBlock } from './block-report.ts'
import { type Claimed, claimAttempt, findNextAttempt } from './claim.ts'
import { failFast, lastWhereLeftAlone } from './end.ts'
import type { HandlerCall } from './handlers/block-handler.ts'
import { findHandler } from './handlers/registry.ts'
import { gatePorts, judgeProduced } from './judge-gates.ts'
import { askedIfUnheard } from './lost-step.ts'
import { leaveGivenUp } from './meter.ts'
import { watchAttempt } from './watch.ts'

/**
 * The next attempt of a runnable block, from its claim to its record. `undecided`: a person still has to be asked, so
 * only a failing pre-gate or a result that was approved before may be recorded here; otherwise the machine goes back to
 * `_approve_<id>`.
 */
export async function tryBlock(
  call: BlockCall,
  undecided: boolean,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') return endLostForGood(call)
  const begun = await beginAttempt(call, open, { undecided, claim: (ready) => claimAttempt(call, open, ready, signal) })
  return 'ready' in begun ? finishBegun(call, begun, await runAttempt(call, begun, signal)) : begun
}

/** What is left to do when a lost attempt was the last. */
export async function endLostForGood(call: BlockCall): Promise<BlockReport> {
  const reason = 'its last attempt was lost'
  await failFast(call, { code: 'ATTEMPT_LOST', reason })
  return reportBlock(call, { state: 'failed', attempt: 0, seq: call.head.seq, verdicts: [] })
}

/** One claimed attempt: its end without its work, or dispatch under watch, contract, post-gates. Every fault becomes a value; it never throws but for the host's own end. */
async function runAttempt(
  call: BlockCall,
  begun: BegunAttempt<Claimed>,
  signal: AbortSignal | undefined,
): Promise<AttemptEnd> {
  const { world, block } = call
  const { attempt, claim, ready, feedback } = begun
  const { holder, lease } = claim
  const { values } = ready
  const started = world.clock.now()
  const { ms: timeout_ms } = attemptLimit(block, world.settings.safety)
  try {
    const over = await endWithoutWork(call, begun)
    if (over !== undefined) return over
    const produced = await watchAttempt(call, { holder, timeout_ms, signal }, (watched) =>
      dispatchBlock(call, { attempt, values, feedback, signal: watched, lease }),
    )
    // Its gates may ask the same provider.
    await lease.end()
    // What a model used is told by block:output.
    if (block.mode === 'ai') leaveGivenUp(call.meter)
    return await judgeProduced(call, attempt, values, produced, Math.max(0, world.clock.now() - started))
  } catch (error) {
    if (signal?.aborted === true) throw error
    const failure = askedIfUnheard(call, attempt, toFailure(call, error))
    return { attempt, verdicts: [], gate_events: [], failure: await lastWhereLeftAlone(call, failure) }
  } finally {
    await lease.end()
  }
}

/** Does the block's work once. Each mode has its own way; all end in the same contract. */
function dispatchBlock(call: BlockCall, dispatch: Dispatch): Promise<Produced> {
  const { block, acting } = call
  if (acting !== undefined) {
    return acting.call === undefined ? dispatchTurn(call, acting, dispatch) : dispatchToolCall(call, acting, dispatch)
  }
  switch (block.mode) {
    case 'ai':
      return dispatchAgent(call, block, dispatch)
    case 'deterministic':
      return dispatchHandler(call, block, dispatch)
    case 'approval':
      return dispatchDecision(call, dispatch)
    case 'dag':
    case 'research':
      throw new Fault('Bug', 'no_dispatch', `Block "${block.id}" opens a child run: its machine calls open-child.`)
    case 'wait':
      throw new Fault('Bug', 'no_dispatch', `Block "${block.id}" waits: its machine calls open-wait.`)
  }
}

async function dispatchDecision(call: BlockCall, _dispatch: Dispatch): Promise<Produced> {
  const values = await decisionOutputs(call)
  return { ...checkOutputs(values, call.block.outputs), facts: unpriced('approval', 'person', '') }
}

/** The work of a deterministic block, once: its handler's values against the contract. */
async function dispatchHandler(
  call: BlockCall,
  { handler, config, outputs, id }: Extract<Block, { mode: 'deterministic' }>,
  { attempt, values, feedback, signal }: Dispatch,
): Promise<Produced> {
  const { storage, run, block, item, dag, epoch } = call
  const judged: { verdicts?: readonly Verdict[] } = {}
  const made = await findHandler(handler).run({
    inputs: portValues(call.block, values),
    values,
    outputs,
    config,
    world: storage.bounded,
    run,
    block_id: id,
    epoch,
    attempt,
    idempotency_key: callKey(call, attempt, 0),
    feedback,
    task_gates: dag.task_gates ?? [],
    async judge(gates, facts) {
      judged.verdicts = await judgeAll(call, signal, gates, facts)
      return judged.verdicts.every(({ passed }) => passed)
    },
    ...(item === undefined ? {} : { item }),
    signal,
  })
  const { values: given, problems } = checkOutputs(made, block.outputs)
  const told = problems.map((problem) =>
    problem.startsWith('missing port ') ? `${problem}: ${whyMissing(handler)}` : problem,
  )
  return { values: given, problems: told, ...judged, facts: unpriced('deterministic', handler, canonicalJson(config)) }
}

/** What is recorded of work nobody charges for. */
function unpriced(provider: string, model: string, params: string): Produced['facts'] {
  const hash = sha256(params)
  const none = { tokens_in: 0, tokens_out: 0, usd_micros: 0 }
  return { provider, model, params_hash: hash, prompt_hash: hash, ...none, finish_reason: 'stop' }
}

async function judgeAll(
  call: BlockCall,
  signal: AbortSignal,
  gates: Parameters<HandlerCall['judge']>[0],
  facts: Parameters<HandlerCall['judge']>[1],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  const ports = gatePorts(call, signal)
  for (const gate of gates) {
    verdicts.push(await judgeGate(gate, facts, ports, () => call.world.clock.now()))
    if (call.meter.refusal !== undefined) throw call.meter.refusal
  }
  return verdicts
}

/** JSONata answers nothing, not an error, where a path leads nowhere. */
function whyMissing(handler: string): string {
  return handler === 'transform'
    ? 'its expression gave nothing for it; do its paths exist?'
    : `${handler} gave nothing for it`
}

/** Output values of a `mode: approval` block: what its decision in HEAD says. */
async function decisionOutputs(call: BlockCall): Promise<Readonly<Record<string, Json>>> {
  const { world, run, block, head, epoch } = call
  const decision = head.approvals[approvalId(run.run_id, block.index, epoch)]
  const feedback = decision?.feedback_ref
  const text = feedback === undefined ? '' : Buffer.from(await world.objects.get(run.tenant, feedback)).toString('utf8')
  return { approved: true, decided_by: decision?.decided_by ?? 'timeout', ...(text === '' ? {} : { feedback: text }) }
}
