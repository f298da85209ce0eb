import type { GateUse } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { type Composed, composeVerdicts } from '../../shared/gates/compose-verdicts.ts'
import type { GateFacts, Verdict } from '../../shared/gates/gate.ts'
import type { GatePorts } from '../../shared/gates/gate-ports.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import { refuse } from '../../shared/gates/kinds/refuse.ts'
import { scriptRef } from '../../shared/gates/project-gates.ts'
import { withFileTexts } from '../../shared/gates/read-facts.ts'
import { isolateFor } from '../../shared/ports/isolate.ts'
import type { RecordedCallWithPrompt } from '../../shared/providers/recording.ts'
import { ownValues } from '../../shared/runs/block-inputs.ts'
import type { EventData, NewEvent, StoredValue, UsedByCalls } from '../../shared/runs/event.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { recordingProvider, storeAnswers } from '../provider-call.ts'
import { leasedProvider } from '../provider-lease.ts'
import { isOverQuota } from '../record/storage-quota.ts'
import { objectReader } from './agent-files.ts'
import { type AttemptEnd, type Failure, type Produced, toFailure } from './attempt-outcome.ts'
import { type BlockCall, eventBase } from './block-call.ts'
import { takeUnreportedUse } from './meter.ts'
import { meteredProvider } from './metered-provider.ts'
import { whileRunning } from './watch.ts'

/** All verdicts of one side of a block, what they come to, and their events in gate order. */
export interface Judged {
  readonly verdicts: readonly Verdict[]
  readonly composed: Composed
  readonly events: readonly NewEvent[]
  /** A judge may not be asked: the gates from there on were not judged. */
  readonly refusal?: Fault
}

/**
 * Judges every gate of one side (never only the first): pre-gates see inputs of the block, post-gates inputs and outputs,
 * neither run inputs of whatever name. Those
 * `known`, of an attempt that goes on after a question, are not judged again. A run that is stopped meanwhile ends what
 * they compute: Fault Rejected superseded, as of its dispatch.
 */
export function judgeBlock(
  call: BlockCall,
  phase: 'pre' | 'post',
  attempt: number,
  facts: Omit<GateFacts, 'at'>,
  known: readonly Verdict[] = [],
): Promise<Judged> {
  const uses = phase === 'pre' ? call.block.pre_gates : call.block.post_gates
  if (uses.length === 0) return Promise.resolve(nothingToJudge(call, phase, known))
  return whileRunning(call, (signal) => judgeUses(call, uses, { phase, attempt, facts, known, signal }))
}

function nothingToJudge({ block }: BlockCall, phase: 'pre' | 'post', known: readonly Verdict[]): Judged {
  return { verdicts: known, composed: composeVerdicts([], known, block.gate_composition[phase]), events: [] }
}

interface Side {
  readonly phase: 'pre' | 'post'
  readonly attempt: number
  readonly facts: Omit<GateFacts, 'at'>
  readonly known: readonly Verdict[]
  readonly signal: AbortSignal
}

async function judgeUses(
  call: BlockCall,
  uses: readonly GateUse[],
  { phase, attempt, facts, known, signal }: Side,
): Promise<Judged> {
  const { world, block } = call
  const at = new Date(world.clock.now()).toISOString()
  const verdicts: Verdict[] = [...known]
  const events: NewEvent[] = []
  const before = new Set(known.map(({ name }) => name))
  const own = { ...facts, inputs: ownValues(call.dag, block, facts.inputs), at }
  const seen = await withFileTexts(block, own, objectReader(call))
  const counted: GateUse[] = []
  const composed = (of: readonly GateUse[] = counted) => composeVerdicts(of, verdicts, block.gate_composition[phase])
  for (const use of uses) {
    // Nobody is asked about a call that its gates refuse.
    if (isObstacle(use) && composed().action === 'fail') continue
    counted.push(use)
    if (before.has(use.name)) continue
    const calls: RecordedCallWithPrompt[] = []
    const verdict = await judgeGate(use, seen, gatePorts(call, signal, calls), () => world.clock.now())
    // What an end cut short is no verdict.
    signal.throwIfAborted()
    // Whatever a gate makes of a judge it may not ask: a budget is no opinion about the block's work.
    if (call.meter.refusal !== undefined) {
      return { verdicts, composed: composed(uses), events, refusal: call.meter.refusal }
    }
    verdicts.push(verdict)
    const told = { spent: takeUnreportedUse(call.meter), ...(await storeAnswers(call, calls)) }
    events.push(gateEvent(verdict, eventBase(call), attempt, phase, told))
  }
  return { verdicts, composed: composed(), events }
}

/** What stands in the way of an agent's call, and is no gate of its document. */
function isObstacle({ check }: GateUse): boolean {
  return check.type === refuse.type
}

/** A verdict as an event. */
function gateEvent(
  verdict: Verdict,
  head: ReturnType<typeof eventBase>,
  attempt: number,
  phase: 'pre' | 'post',
  { spent, raw_ref }: { readonly spent?: UsedByCalls | undefined; readonly raw_ref?: string } = {},
): NewEvent {
  const { name, type, status, reason, facts, duration_ms, input_hash, version } = verdict
  const by = version === undefined ? {} : { version }
  const told = { gate: name, type, phase, status, reason, input_hash, ...by, facts, duration_ms }
  const asked = { ...(spent === undefined ? {} : { spent }), ...(raw_ref === undefined ? {} : { raw_ref }) }
  return { type: 'block:gate', ...head, attempt, data: { ...told, ...asked } }
}

/** What an attempt produced, against its contract and its post-gates. */
export async function judgeProduced(
  call: BlockCall,
  attempt: number,
  inputs: Readonly<Record<string, Json>>,
  produced: Produced,
  latency_ms: number,
): Promise<AttemptEnd> {
  const own = (produced.verdicts ?? []).map((verdict) => gateEvent(verdict, eventBase(call), attempt, 'pre'))
  const refused = taskRefusal(produced.verdicts ?? [])
  if (refused !== undefined) {
    return { attempt, verdicts: produced.verdicts ?? [], gate_events: own, failure: refused }
  }
  const outputs = produced.refusal ?? (await storeValues(call, produced.values))
  if (outputs instanceof Fault) {
    const output = { outputs: {}, ...produced.facts, latency_ms }
    return { attempt, output, verdicts: [], gate_events: own, failure: toFailure(call, outputs) }
  }
  const output = { outputs, ...produced.facts, latency_ms }
  if (produced.problems.length > 0) {
    const reason = shortRedacted(`output contract: ${produced.problems.join('; ')}`)
    const failure = { code: 'output_contract', reason, retry: true, feedback: produced.problems }
    return { attempt, output, verdicts: [], gate_events: own, failure }
  }
  const judged = await judgeBlock(call, 'post', attempt, {
    inputs,
    outputs: produced.values,
    ...answerFacts(call, produced.facts, latency_ms),
  })
  const end = {
    attempt,
    output,
    verdicts: judged.verdicts,
    gate_events: [...own, ...judged.events],
    came: { values: produced.values },
  }
  return { ...end, ...postGateFailure(call, judged) }
}

/** Why an attempt whose post-gates were judged is not completed by them. */
export function postGateFailure(call: BlockCall, judged: Judged): Pick<AttemptEnd, 'failure'> {
  if (judged.refusal !== undefined) return { failure: toFailure(call, judged.refusal) }
  return judged.composed.passed ? {} : { failure: gateFailure('post', judged) }
}

type Answered = Pick<EventData<'block:output'>, 'provider' | 'model' | 'finish_reason' | 'tokens_in' | 'tokens_out'> & {
  readonly usd_micros?: number | undefined
}

/** What the attempt used, and, where a model answered, which one and how it ended. */
export function answerFacts(
  { block }: BlockCall,
  { usd_micros: usd, tokens_in, tokens_out, provider, model, finish_reason }: Answered,
  latency_ms: number,
): Pick<GateFacts, 'measured' | 'answer'> {
  const cost_usd = usd === undefined ? null : usd / 1_000_000
  const measured = { cost_usd, latency_ms, tokens: tokens_in + tokens_out }
  return { measured, ...(block.mode === 'ai' ? { answer: { provider, model, finish_reason } } : {}) }
}

/** All of them or, where they do not fit together, the Fault that says so. */
async function storeValues(
  { world, storage, run }: BlockCall,
  values: Produced['values'],
): Promise<Record<string, StoredValue> | Fault> {
  const bodies = Object.entries(values).map(([port, value]) => [port, Buffer.from(canonicalJson(value))] as const)
  try {
    if (bodies.length > 0) await storage.requireRoom(bodies.reduce((sum, [, body]) => sum + body.byteLength, 0))
  } catch (error) {
    if (!isOverQuota(error)) throw error
    return error
  }
  const stored: Record<string, StoredValue> = {}
  for (const [port, body] of bodies) stored[port] = await world.objects.put(run.tenant, body)
  return stored
}

/** The failure of a block side whose gates did not hold, with each failed gate as feedback. */
export function gateFailure(phase: 'pre' | 'post', { verdicts, composed }: Judged): Failure {
  const failed = verdicts.filter(({ name }) => composed.failed.includes(name))
  const ask = composed.action === 'ask' ? { ask: `${phase}_gates` as const } : {}
  return {
    code: `${phase}_gate_failed`,
    retry: composed.action === 'retry',
    ...ask,
    ...wordsOf(`${phase}-gate`, failed),
  }
}

/** The failure of a move that a gate of the task does not let pass; undefined = all hold. Another try changes nothing. */
function taskRefusal(verdicts: readonly Verdict[]): Failure | undefined {
  const failed = verdicts.filter(({ passed }) => !passed)
  if (failed.length === 0) return undefined
  return { code: 'task_gate_refused', retry: false, ...wordsOf('task gate', failed) }
}

function wordsOf(kind: string, failed: readonly Verdict[]): Pick<Failure, 'reason' | 'feedback' | 'gates'> {
  const gates = failed.filter(({ type }) => type !== refuse.type)
  const words = [
    ...failed.filter(({ type }) => type === refuse.type).map(({ name, reason }) => `refused (${name}): ${reason}`),
    ...gates.map(({ name, reason }, at) => `${at === 0 ? `${kind} ` : ''}"${name}" failed: ${reason}`),
  ]
  return {
    reason: shortRedacted(words.join('; ')),
    feedback: failed.map(({ name, reason }) => `${name}: ${reason}`),
    gates: failed.map(({ name }) => name),
  }
}

/**
 * What the checks of a block may touch: providers by name, and the objects of the run's own tenant. Answers of judges
 * are also put into `calls`. What an isolate computes for them ends with `signal`.
 */
export function gatePorts(call: BlockCall, signal: AbortSignal, calls: RecordedCallWithPrompt[] = []): GatePorts {
  const { world, run } = call
  return {
    isolate: isolateFor(world.isolate, { tenant: run.tenant, signal }),
    http: world.http,
    shell: world.shell,
    provider: (name) => recordingProvider(name, leasedProvider(call, name, meteredProvider(call, name)), calls),
    script: (version) => scriptText(world.objects.get(run.tenant, scriptRef(run.tenant, version))),
    objectFacts: (ref) => objectFacts(world.objects.get(run.tenant, ref)),
  }
}

/** The script a run keeps of a gate of its project; undefined = it is gone, and the gate is `error`. */
async function scriptText(reading: Promise<Uint8Array>): Promise<string | undefined> {
  return unlessMissing(async () => new TextDecoder().decode(await reading))
}

/** The store has verified what it gives; what is damaged throws, and the gate is `error`. */
async function objectFacts(reading: Promise<Uint8Array>) {
  return unlessMissing(async () => {
    const body = await reading
    return { sha256: sha256(body), bytes: body.byteLength }
  })
}

async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Fault && ['object_missing', 'bad_object_ref'].includes(error.code)) return undefined
    throw error
  }
}
