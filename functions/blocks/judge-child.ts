import { Fault } from '../../shared/errors.ts'
import type { Head, RunState } from '../../shared/runs/head.ts'
import { checkOutputs } from '../../shared/runs/output-contract.ts'
import type { BlockCall } from './block-call.ts'
import { childRun } from './child-run.ts'
import type { AttemptEnd, Failure } from './end-attempt.ts'
import { failureOf } from './failure-of.ts'
import { judgeProduced } from './judge-produced.ts'
import { type ChildEnd, readChild } from './read-child.ts'
import { resolveBlockInputs } from './resolve-block-inputs.ts'
import { shortText } from './short-text.ts'

/** How an attempt ended whose child run has: contract and post-gates of a completed one, else its failure. */
export async function judgeChild(call: BlockCall, attempt: number, head: Head): Promise<AttemptEnd> {
  try {
    const end = await endOf(call, attempt)
    // The time people took inside the child is no time of its parent's either.
    return head.deadline_at > call.head.deadline_at ? { ...end, deadline_at: head.deadline_at } : end
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: failureOf(call, error) }
  }
}

async function endOf(call: BlockCall, attempt: number): Promise<AttemptEnd> {
  const { world, block } = call
  if (block.mode !== 'dag' && block.mode !== 'research') {
    throw new Fault('Bug', 'no_child', `Block "${block.id}" has no child run to close.`)
  }
  const run = childRun(call, attempt)
  const child = await readChild(world, run, block)
  const { facts, latency_ms } = child
  if (child.fold.state !== 'completed') {
    const output = { outputs: {}, ...facts, latency_ms }
    return { attempt, output, verdicts: [], gate_events: [], failure: childFailed(run.run_id, child) }
  }
  const inputs = await resolveBlockInputs(call)
  const produced = { ...checkOutputs(child.values, block.outputs), facts }
  return judgeProduced(call, attempt, inputs.values, produced, latency_ms)
}

/** Why another child would end no better: somebody wanted its end, or it lies too deep. */
const FOR_GOOD = new Set(['stopped', 'child_too_deep'])

/** An end of a child that is none of a failure of its blocks. */
const ENDS: Readonly<Partial<Record<RunState, readonly [code: string, words: string]>>> = {
  cancelled: ['child_failed', 'was cancelled'],
  partial: ['child_partial', 'ended partial'],
  blocked: ['child_blocked', 'ended blocked'],
}

/** A child that is judged by its goal is done only when that is reached: the reason says how far it came. */
function childFailed(runId: string, { dag_name, facts, fold }: ChildEnd): Failure {
  const { state, code = 'block_failed', reason = 'it names no reason' } = fold
  const who = facts.provider === 'research' ? `research run ${runId}` : `child run ${runId} of DAG "${dag_name}"`
  const [ended, what] = ENDS[state] ?? ['child_failed', 'failed']
  const words = `${who} ${what}: ${reason}`
  return {
    code: code === 'child_too_deep' ? code : ended,
    reason: shortText(words),
    retry: !FOR_GOOD.has(code) && state !== 'blocked',
    feedback: [shortText(words)],
  }
}
