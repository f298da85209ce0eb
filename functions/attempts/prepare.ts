import { Fault } from '../../shared/errors.ts'
import { composeVerdicts } from '../../shared/gates/compose-verdicts.ts'
import type { Amount } from '../../shared/runs/budget.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { ordinal, PHASE, readOrdinal, workingLeg } from '../../shared/runs/lane.ts'
import { eventPosition } from '../../shared/runs/run-fold.ts'
import { isWhenTrue } from '../../shared/runs/skip-rules.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { recordEvents } from '../record/record-events.ts'
import { allEvents } from '../record/run-log.ts'
import { type AttemptEnd, type Failure, toFailure } from './attempt-outcome.ts'
import { appendBase, type BlockCall, type BlockInputs, eventBase, nextAnsweredPhase } from './block-call.ts'
import { retryBlock } from './block-report.ts'
import { verdictsSoFar, waivedVerdict, waiveGates } from './gate-waivers.ts'
import { attemptInputs, storeInputs } from './inputs.ts'
import { gateFailure, type Judged, judgeBlock } from './judge-gates.ts'
import { chargeMeter } from './meter.ts'
import { endFromEarlierRun } from './reuse.ts'

/** What an attempt is claimed with. `failure`: it is over before its dispatch. */
export interface PreparedAttempt extends BlockInputs {
  readonly hash: string
  readonly pre: Judged
  readonly failure?: Failure
  /** The child run that will do its work (mode dag). */
  readonly child?: string
  /** What questions of that child bind of this run. */
  readonly binding_ref?: string
  /** What is reserved for that child. */
  readonly reserve?: Amount
  /** What it goes over (foreach). */
  readonly items?: { readonly count: number; readonly inputs_ref: string; readonly turn?: number }
  /** The arguments of an agent's call, stored: its record names them. */
  readonly args_ref?: string
  /** An agent that is tried again goes on from the turns it had: their lanes stay. */
  readonly keeps_items?: boolean
  /** Its `when` is not true: it is skipped instead of claimed. */
  readonly unwanted?: true
  /** A result of the run that this one retries stands in for the work. */
  readonly taken?: AttemptEnd
}

const NOT_JUDGED: Judged = { verdicts: [], events: [], composed: { passed: true, failed: [], action: 'pass' } }

/** Inputs and pre-gates of the attempt; what is wrong with them is recorded as its failure, after the claim. */
export async function prepareAttempt(call: BlockCall, attempt: number): Promise<PreparedAttempt> {
  try {
    const inputs = await withArguments(call, await attemptInputs(call))
    const hash = sha256(canonicalJson(inputs.values))
    if (isUnwanted(call, inputs.values)) return { ...inputs, hash, pre: NOT_JUDGED, unwanted: true }
    if (inputs.stale !== undefined) return { ...inputs, hash, pre: NOT_JUDGED, failure: notCovered(inputs.stale) }
    if (inputs.problems.length > 0) {
      const reason = shortRedacted(`cannot start: ${inputs.problems.join('; ')}`)
      const failure = { code: 'missing_input', reason, retry: false, feedback: [] }
      return { ...inputs, hash, pre: NOT_JUDGED, failure }
    }
    const pre = await judgePreGates(call, attempt, inputs)
    if (pre.refusal !== undefined) return { ...inputs, hash, pre, failure: toFailure(call, pre.refusal) }
    if (!pre.composed.passed) return { ...inputs, hash, pre, failure: gateFailure('pre', pre) }
    const taken = await endFromEarlierRun(call, { attempt, inputs_hash: hash, values: inputs.values })
    const { refusal } = call.meter
    if (refusal !== undefined) return { ...inputs, hash, pre, failure: toFailure(call, refusal) }
    return { ...inputs, hash, pre, ...(taken === undefined ? {} : { taken }) }
  } catch (error) {
    // Nothing is claimed yet: a store that is away for a moment is the machine's own retry, not a try of the block.
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    const failure = toFailure(call, error)
    return { values: {}, problems: [], context_version: 0, hash: sha256('{}'), pre: NOT_JUDGED, failure }
  }
}

async function withArguments(
  call: BlockCall,
  inputs: BlockInputs,
): Promise<BlockInputs & Pick<PreparedAttempt, 'args_ref'>> {
  return call.acting?.call === undefined ? inputs : { ...inputs, args_ref: await storeInputs(call, inputs) }
}

/** Nobody said yes to what it would do now: a retry asks. */
function notCovered(stale: string): Failure {
  const reason = shortRedacted(
    `not covered by the decision before it: ${stale}; retry the run, and people are asked again`,
  )
  return { code: 'approval_stale', reason, retry: false, feedback: [] }
}

/** The pre-gates of an attempt. After a question what was waived counts as met, and what was not judged is judged now. */
export async function judgePreGates(
  call: BlockCall,
  attempt: number,
  { values: inputs }: BlockInputs,
): Promise<Judged> {
  const facts = { inputs, outputs: {}, measured: { cost_usd: null, latency_ms: null } }
  const { resumed, block } = call
  if (resumed === undefined) return withEarlierWaivers(call, attempt, await judgeBlock(call, 'pre', attempt, facts))
  const { ask, yes } = resumed
  const waived = ask.about === 'pre_gates' || ask.about === 'call' ? waiveGates(call, 'pre', ask, yes) : []
  const names = new Set(block.pre_gates.map(({ name }) => name))
  const known = verdictsSoFar([...ask.events, ...waived], 'pre').filter(({ name }) => names.has(name))
  const judged = await judgeBlock(call, 'pre', attempt, facts, known)
  return { ...judged, events: [...waived, ...judged.events] }
}

type GateData = EventData<'block:gate'>

/**
 * Pre-gates that were waived in an earlier attempt of this epoch, of the same values, are waived in this one: as an
 * approval, a person is asked once an epoch and not once an attempt.
 */
async function withEarlierWaivers(call: BlockCall, attempt: number, judged: Judged): Promise<Judged> {
  if (judged.composed.action !== 'ask' || attempt < 2) return judged
  const known = await waivedBefore(call)
  const again = judged.events.flatMap((event): NewEvent[] => {
    if (event.type !== 'block:gate' || !judged.composed.failed.includes(event.data.gate)) return []
    const waived = known.get(keyOf(event.data))
    if (waived === undefined) return []
    return [
      { type: 'block:gate', ...eventBase(call), attempt, data: waivedVerdict(event.data, waived.reason, waived.facts) },
    ]
  })
  if (again.length === 0) return judged
  const names = new Map(again.flatMap(({ type, data }) => (type === 'block:gate' ? [[data.gate, data]] : [])))
  const verdicts = judged.verdicts.map((verdict) => {
    const waived = names.get(verdict.name)
    return waived === undefined ? verdict : { ...verdict, status: 'waived' as const, reason: waived.reason }
  })
  const { block } = call
  const composed = composeVerdicts(block.pre_gates, verdicts, block.gate_composition.pre)
  return { ...judged, verdicts, composed, events: [...judged.events, ...again] }
}

async function waivedBefore({ world, run, block, item, epoch }: BlockCall): Promise<ReadonlyMap<string, GateData>> {
  const found = new Map<string, GateData>()
  for (const event of await allEvents(world, run)) {
    if (event.type !== 'block:gate' || event.block_id !== block.id || event.item !== item) continue
    const isMine = eventPosition(event).epoch === epoch && event.data.phase === 'pre' && event.data.status === 'waived'
    if (isMine) found.set(keyOf(event.data), event.data)
  }
  return found
}

function keyOf({ gate, input_hash }: GateData): string {
  return `${gate}/${input_hash}`
}

/**
 * Whether the block's own `when` says no. It is asked before anything else of an epoch: a block that was ready, or a
 * person was asked about, is wanted.
 */
function isUnwanted({ run, block, head, epoch, lane }: BlockCall, values: BlockInputs['values']): boolean {
  const isFirst = lane === undefined && head.approvals[approvalId(run.run_id, block.index, epoch)] === undefined
  return isFirst && !isWhenTrue(block, values)
}

/**
 * A block nobody has decided on goes back to be asked about, unless it is over before its dispatch: it fails as it is, or
 * an earlier result, approved then, stands in for its work. What was waived or judged of an attempt that goes on is told
 * first, so that nobody judges it again.
 */
export async function askUnlessOver(call: BlockCall, { failure, taken, pre }: PreparedAttempt): Promise<void> {
  if (isAskedNow(call)) throw retryBlock(call)
  if (failure !== undefined || taken !== undefined) return
  const { lane, resumed, world, meter } = call
  if (resumed !== undefined && lane !== undefined && pre.events.length > 0) {
    const step = { ...readOrdinal(lane), leg: workingLeg(lane), phase: nextAnsweredPhase(lane) }
    const last = ordinal({ ...step, phase: PHASE.claimed - 1 })
    const at = new Date(world.clock.now()).toISOString()
    const final = { ...appendBase(call), ordinal: last, guard: { below: last }, at }
    await recordEvents(world, step, pre.events, final, chargeMeter(meter))
  }
  throw retryBlock(call)
}

/** Gates held when people were asked, whatever a judge says now: their answer is waited for. */
function isAskedNow({ head, run, block, epoch }: BlockCall): boolean {
  return head.approvals[approvalId(run.run_id, block.index, epoch)]?.status === 'pending'
}
