import type { Verdict } from '../../shared/gates/gate.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock } from './block-report.ts'
import { type AttemptEnd, endAttempt } from './end-attempt.ts'
import { failedGates } from './failed-gates.ts'
import { type Judged, judgeBlock } from './judge-block.ts'
import { askedInputs } from './judge-pre.ts'
import { answerFacts, postFailure } from './judge-produced.ts'
import type { OpenAsk } from './open-ask.ts'
import type { Answer } from './read-answer.ts'
import { readValues } from './read-outputs.ts'
import { verdictsSoFar } from './verdicts-so-far.ts'
import { waiveGates } from './waive-gates.ts'
import { whenNotDone } from './when-not-done.ts'

type Yes = Extract<Answer, { kind: 'yes' }>
type No = Extract<Answer, { kind: 'no' }>

/** The gates stay as they failed, and the block fails by them, in the words of who said no. */
export function refuseAsked(call: BlockCall, ask: OpenAsk, { code, reason }: No): Promise<BlockReport> {
  const failed = failedGates(call.block, ask)
  const feedback = [...failed.map(({ name, reason: why }) => `${name}: ${why}`), reason]
  const gates = failed.map(({ name }) => name)
  const failure = { code, reason, retry: false, feedback, ...(gates.length === 0 ? {} : { gates }) }
  return record(call, ask, { ...bare(ask), failure })
}

/** Post-gates were waived: the outputs are published as they are, nothing is dispatched again. */
export function completeWaived(call: BlockCall, ask: OpenAsk, yes: Yes): Promise<BlockReport> {
  const gate_events = waiveGates(call, 'post', ask, yes)
  const verdicts = [...verdictsSoFar(ask.events, 'pre'), ...verdictsSoFar([...ask.events, ...gate_events], 'post')]
  return record(call, ask, { ...bare(ask), verdicts, gate_events })
}

/** Judges of the post-gates may be asked now: those that had no verdict are judged, on the outputs there are. */
export async function judgeRest(call: BlockCall, ask: OpenAsk): Promise<BlockReport> {
  const { attempt, events } = ask
  const output = events.findLast((event) => event.type === 'block:output')
  if (output?.type !== 'block:output') return record(call, ask, bare(ask))
  const inputs = await askedInputs(call, ask)
  const judged = await judgeBlock(
    call,
    'post',
    attempt,
    await factsOf(call, inputs.values, output.data),
    knownOf(call, ask),
  )
  const end = { ...bare(ask), verdicts: judged.verdicts, gate_events: judged.events, ...endOfRest(call, judged) }
  return record(call, ask, end, inputs)
}

async function factsOf(call: BlockCall, inputs: Judging['inputs'], data: EventData<'block:output'>): Promise<Judging> {
  const outputs = await readValues(call.world, call.run.tenant, data.outputs)
  return { inputs, outputs, ...answerFacts(call, data, data.latency_ms) }
}

type Judging = Parameters<typeof judgeBlock>[3]

function knownOf({ block }: BlockCall, { events }: OpenAsk): readonly Verdict[] {
  const names = new Set(block.post_gates.map(({ name }) => name))
  return verdictsSoFar(events, 'post').filter(({ name }) => names.has(name))
}

/** Another try of a foreach block would run no item again: what failed here stays so. */
function endOfRest(call: BlockCall, judged: Judged): Pick<AttemptEnd, 'failure'> {
  const { failure } = postFailure(call, judged)
  if (failure === undefined) return {}
  const isWhole = call.block.foreach !== undefined && call.item === undefined
  return { failure: isWhole ? { ...failure, retry: false } : failure }
}

async function record(
  call: BlockCall,
  { attempt, projection }: OpenAsk,
  end: AttemptEnd,
  inputs?: Parameters<typeof endAttempt>[2]['inputs'],
): Promise<BlockReport> {
  const { inputs_hash: hash, untried } = projection
  const recorded = await endAttempt(call, end, { hash, untried, ...(inputs === undefined ? {} : { inputs }) })
  await whenNotDone(call, recorded, end.failure)
  return reportBlock(call, { state: recorded.state, attempt, seq: recorded.seq, verdicts: end.verdicts })
}

function bare({ attempt, projection }: OpenAsk): AttemptEnd {
  return { attempt, verdicts: [], gate_events: [], stored: madeBefore(projection) }
}

function madeBefore({ outputs, made }: BlockProjection): NonNullable<AttemptEnd['stored']> {
  return { ...(outputs === undefined ? {} : { outputs }), ...(made === undefined ? {} : { made }) }
}
