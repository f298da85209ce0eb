import { Fault } from '../../shared/errors.ts'
import type { ChainState, StageTrace } from '../../shared/research/chain-state.ts'
import { readPayloadOfCategory } from '../../shared/research/payloads/envelope.ts'
import type { Stage } from '../../shared/research/stages.ts'
import { plus, type Spent } from '../../shared/runs/budget.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import type { LaneStands } from '../../shared/runs/run-store.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { functionHandler, type Handler } from '../handler.ts'
import { storeAnswers } from '../provider-call.ts'
import { unansweredCondition } from './metered-call.ts'
import {
  openStageCall,
  recordedStage,
  STAGE_EVENTS,
  type StageAnswer,
  type StageCall,
  StageInputSchema,
  type StageOutcome,
  stageLane,
  stageSupersededFault,
} from './stage-call.ts'

/**
 * The function of a stage. Safe to invoke any number of times: its lane in HEAD says whether this step was recorded, and
 * then its answer is what was recorded, without any work. `after` is done again each time; it must not matter how often.
 * A run that has ended goes to its settling.
 */
export function stageHandler(
  stage: Stage,
  work: (call: StageCall) => Promise<StageOutcome>,
  after: (call: StageCall, answer: StageAnswer) => Promise<void> = async () => undefined,
): Handler {
  return functionHandler({
    name: stage.replaceAll('_', '-'),
    input: StageInputSchema,
    async run(input, world, { signal }): Promise<StageAnswer> {
      const call = await openStageCall(world, stage, input, signal)
      const over: StageAnswer = { step: call.step + 1, ref: input.ref, next: 'settle' }
      if (call.head.state !== 'running') return over
      try {
        const answer = (await recordedStage(call, call.meter.lane)) ?? (await recordStage(call, await work(call)))
        await after(call, answer)
        return answer
      } catch (error) {
        const head = await world.runs.head(call.run, [])
        if (head !== undefined && head.state !== 'running') return over
        throw error
      }
    },
  })
}

/**
 * ONE append records a stage: its event, what its calls used, and with it the end of this step. The state it leads to is
 * an object written before. Who comes second finds what the first recorded, and answers that.
 */
async function recordStage(call: StageCall, outcome: StageOutcome): Promise<StageAnswer> {
  const { world, run, stage, step, lane, meter } = call
  const state = await nextState(call, outcome)
  checkEmitted(call, state)
  const { ref } = await world.objects.put(run.tenant, Buffer.from(canonicalJson(state)))
  const spent = plus(meter.lost, meter.used)
  const data: EventData<'research:routed'> = {
    n: step,
    ...saidOf(outcome),
    tokens: spent.tokens,
    ...priceOf(call, spent),
    ref,
  }
  const exceeded: readonly NewEvent[] =
    meter.exceeded === undefined ? [] : [{ type: 'budget:exceeded', data: meter.exceeded }]
  const first = beginsChain(call)
  // Nothing is written after the answer.
  const phase = stage === 'synthesize_answer' ? PHASE.completed : PHASE.output
  const done = await world.runs.append({
    run,
    lane,
    ordinal: ordinal({ epoch: 0, attempt: step, phase }),
    guard: { is: meter.lane },
    while: [...unansweredCondition(call), ...(first.length === 0 ? [] : whileUnbegun(call))],
    at: new Date(world.clock.now()).toISOString(),
    events: [...first, ...exceeded, { type: STAGE_EVENTS[stage], data }],
    settle: { reserved: plus(meter.lost, meter.reserved), spent },
  })
  if (done.ok) return { step: step + 1, ref, next: outcome.next }
  const recorded = await recordedStage(call, (await world.runs.head(run))?.lanes[lane] ?? null)
  if (recorded === undefined) throw stageSupersededFault(run)
  return recorded
}

/** A stage may have asked models with a price and models without. */
function priceOf({ meter }: StageCall, { usd_micros, unpriced_tokens }: Spent) {
  const isPriced = meter.priced === true || usd_micros > 0
  return isPriced ? { usd_micros, ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }) } : {}
}

/** What a stage hands on is what the registry reads; anything else would be found by the next one, too late. */
function checkEmitted({ stage }: StageCall, state: ChainState): void {
  const emitted = {
    classifier_output: state.classified,
    route_decision: state.decision,
    execution_output: state.execution && { ...state.execution, evidence: state.evidence },
    assessment_output: state.assessment,
    result: state.result,
  } as const
  for (const [category, payload] of Object.entries(emitted)) {
    const read = payload === undefined ? undefined : readPayloadOfCategory(category as keyof typeof emitted, payload)
    if (read === undefined || read.ok) continue
    const message = `Stage "${stage}" made a payload of category ${category} that nobody can read: ${read.errors[0]?.message}`
    throw new Fault('Bug', 'bad_payload', message, {
      issues: read.errors.map(({ path, message: told }) => ({ path, message: told })),
    })
  }
}

/** The chain begins with its first event, whichever stage writes it. */
function beginsChain({ head, meta }: StageCall): readonly NewEvent[] {
  if (Object.keys(head.lanes).some((lane) => /^s[0-4]$/.test(lane) && isRecorded(head.lanes[lane] ?? 0))) return []
  return [{ type: 'research:requested', data: { n: 0, tokens: 0, ref: meta.intent_ref ?? '' } }]
}

/** Of two stages that both see an unbegun chain one begins it. */
function whileUnbegun({ stage, head, meter }: StageCall): readonly LaneStands[] {
  const first = stageLane('nl_classify')
  if (stage === 'nl_classify' || meter.left.some(({ lane }) => lane === first)) return []
  return [{ lane: first, is: head.lanes[first] ?? null }]
}

function isRecorded(lane: number): boolean {
  return lane % 100 >= PHASE.output
}

function saidOf({ said }: StageOutcome): Pick<EventData<'research:routed'>, 'action' | 'sufficient'> {
  const { action, sufficient } = said ?? {}
  return { ...(action === undefined ? {} : { action }), ...(sufficient === undefined ? {} : { sufficient }) }
}

async function nextState(call: StageCall, outcome: StageOutcome): Promise<ChainState> {
  const { state } = call
  const why = (outcome.degraded ?? []).filter((reason) => reason !== undefined)
  return {
    ...state,
    ...outcome.change,
    next: outcome.next,
    degraded: [...new Set([...state.degraded, ...why])],
    stages: [...state.stages, await traceOf(call, outcome, why)],
  }
}

async function traceOf(call: StageCall, { said }: StageOutcome, why: readonly string[]): Promise<StageTrace> {
  const { world, stage, step, in_ref, began, meter } = call
  return {
    stage,
    n: step,
    in_ref,
    at: new Date(began).toISOString(),
    duration_ms: Math.max(0, world.clock.now() - began),
    tokens: meter.lost.tokens + meter.used.tokens,
    reserved: meter.lost.tokens + meter.reserved.tokens,
    retries: meter.retries,
    ...(await storeAnswers(call, meter.calls)),
    ...said,
    ...(why.length === 0 ? {} : { degraded_reason: why.join('; ') }),
  }
}
