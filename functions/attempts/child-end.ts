import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { researchBlockOutputs } from '../../shared/research/payloads/result.ts'
import { checkOutputs, childOutputSources } from '../../shared/runs/block-outputs.ts'
import { NOTHING, plus } from '../../shared/runs/budget.ts'
import type { RunEvent, StoredValue } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import type { Head, RunState } from '../../shared/runs/head.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { RunFold } from '../../shared/runs/run-fold.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readOwnProjection, readPortValues } from '../record/projections.ts'
import { allEvents } from '../record/run-log.ts'
import { readAnswerSources, readChain } from '../research/stored-chain.ts'
import { type AttemptEnd, type Failure, type Produced, toFailure } from './attempt-outcome.ts'
import { type BlockCall, childRunKey, wasClaimedWithChild } from './block-call.ts'
import { type BlockReport, reportBlock, retryBlock } from './block-report.ts'
import { findNextAttempt } from './claim.ts'
import { endAttempt, raiseUnlessDone } from './end.ts'
import { attemptInputs } from './inputs.ts'
import { judgeProduced } from './judge-gates.ts'

/** Seconds, at most, between two looks for a place among the blocks that may run at once. */
const SLOT_WAIT_SEC = 15

/**
 * `_close_<id>` of a `mode: dag` block: takes what its ended child run made -> contract -> post-gates -> publish. No
 * lease fences such an attempt: it lives as long as its child, whose id follows from it. Without an ended child the
 * machine goes back to `<id>`, which opens it or waits for it again.
 */
export async function closeChild(call: BlockCall): Promise<BlockReport> {
  const { attempt, phase } = readOrdinal(call.lane ?? 0)
  if (call.lane === undefined) throw retryBlock(call, slotWait(call))
  if (phase === PHASE.retrying || !wasClaimedWithChild(call, attempt)) {
    // Due later, or not lost yet: the wait is the machine's.
    await findNextAttempt(call)
    throw retryBlock(call)
  }
  call.world.log.note?.({ attempt, epoch: call.epoch })
  const child = await call.world.runs.head(childRunKey(call, attempt), [])
  if (child === undefined || child.state === 'running') throw retryBlock(call)
  const end = await judgeChild(call, attempt, child)
  const claimed = await readOwnProjection(call, call.lane)
  // Only now: judges of what the child made do not use what was meant for it.
  call.meter.reserved = plus(call.meter.reserved, claimed?.reserved ?? NOTHING)
  const recorded = await endAttempt(call, end, { hash: claimed?.inputs_hash, untried: claimed?.untried })
  await raiseUnlessDone(call, recorded, end.failure)
  return reportBlock(call, { state: recorded.state, attempt, seq: recorded.seq, verdicts: end.verdicts })
}

/** Nothing is claimed: when as many blocks run as may, it was refused and asks again, spread over seconds. */
function slotWait({ world, meta, head }: BlockCall): number {
  const { max_parallel } = meta.options
  const isFull = max_parallel > 0 && head.running.length >= max_parallel
  return isFull ? 1 + ((world.ids.random(1)[0] ?? 0) % SLOT_WAIT_SEC) : 0
}

/** How an attempt ended whose child run has: contract and post-gates of a completed one, else its failure. */
async function judgeChild(call: BlockCall, attempt: number, head: Head): Promise<AttemptEnd> {
  try {
    const end = await childAttemptEnd(call, attempt)
    // The time people took inside the child is no time of its parent's either.
    return head.deadline_at > call.head.deadline_at ? { ...end, deadline_at: head.deadline_at } : end
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: toFailure(call, error) }
  }
}

async function childAttemptEnd(call: BlockCall, attempt: number): Promise<AttemptEnd> {
  const { world, block } = call
  if (block.mode !== 'dag' && block.mode !== 'research') {
    throw new Fault('Bug', 'no_child', `Block "${block.id}" has no child run to close.`)
  }
  const run = childRunKey(call, attempt)
  const child = await readChild(world, run, block)
  const { facts, latency_ms } = child
  if (child.fold.state !== 'completed') {
    const output = { outputs: {}, ...facts, latency_ms }
    return { attempt, output, verdicts: [], gate_events: [], failure: childFailed(run.run_id, child) }
  }
  const inputs = await attemptInputs(call)
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
    reason: shortRedacted(words),
    retry: !FOR_GOOD.has(code) && state !== 'blocked',
    feedback: [shortRedacted(words)],
  }
}

/** An ended child as its parent's block sees it: values only of a completed one, what it spent of any. */
interface ChildEnd extends Omit<Produced, 'problems'> {
  readonly dag_name: string
  readonly fold: RunFold
  readonly latency_ms: number
}

type ParentBlock = Extract<Block, { mode: 'dag' | 'research' }>

/** Folds the events of an ended child: its outcome, the outputs its parent's block takes, and what its calls cost. */
async function readChild(world: World, run: RunKey, block: ParentBlock): Promise<ChildEnd> {
  const { meta, dag } = await readPinned(world, run)
  const events = await allEvents(world, run)
  const fold = foldRun(events)
  const read = () =>
    block.mode === 'dag'
      ? blockValues(world, run, fold, childOutputSources(block, dag))
      : answerValues(world, run, fold, Object.keys(block.outputs))
  const values = fold.state === 'completed' ? await read() : {}
  const { dag_name, dag_hash, inputs_hash } = meta
  const facts = {
    provider: block.mode,
    model: dag_name,
    params_hash: dag_hash,
    prompt_hash: inputs_hash,
    ...spentBy(fold),
    finish_reason: fold.state,
    note: `child run ${run.run_id}`,
    ...(events.some(isTainted) ? { tainted: true as const } : {}),
  }
  const latency_ms = Math.max(0, Date.parse(fold.ended_at ?? '') - Date.parse(fold.started_at ?? ''))
  return { dag_name, fold, values, facts, latency_ms }
}

/** An agent of it had read what others wrote. */
function isTainted(event: RunEvent): boolean {
  return event.type === 'block:output' && event.data.tainted === true
}

async function answerValues(world: World, { tenant }: RunKey, { stage }: RunFold, ports: readonly string[]) {
  const chain = stage === undefined ? undefined : await readChain(world, tenant, stage.ref)
  if (chain?.result === undefined) return {}
  const texts = ports.includes('sources') ? await readAnswerSources(world, tenant, chain) : []
  const values = researchBlockOutputs(chain.result, texts)
  return Object.fromEntries(Object.entries(values).filter(([port]) => ports.includes(port)))
}

async function blockValues(world: World, run: RunKey, fold: RunFold, wanted: ReturnType<typeof childOutputSources>) {
  const taken: Record<string, StoredValue> = {}
  for (const { port, sources } of wanted) {
    const value = sources.map((source) => completedOutput(fold, source)).find((stored) => stored !== undefined)
    if (value !== undefined) taken[port] = value
  }
  return readPortValues(world, run.tenant, taken)
}

function completedOutput({ blocks }: RunFold, from: { readonly block: string; readonly output: string }) {
  const block = Object.hasOwn(blocks, from.block) ? blocks[from.block] : undefined
  const { outputs = {} } = block?.state === 'completed' ? block : {}
  return Object.hasOwn(outputs, from.output) ? outputs[from.output] : undefined
}

/** Of every attempt of every block, and of every stage; a child's block:output holds what its own children spent. */
function spentBy({ blocks, tokens, usd_micros, unpriced_tokens }: RunFold) {
  const tokens_out = Object.values(blocks).reduce((sum, block) => sum + block.tokens_out, 0)
  const tokens_in = tokens - tokens_out
  const price =
    usd_micros === undefined ? {} : { usd_micros, ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }) }
  return { tokens_in, tokens_out, ...price }
}
