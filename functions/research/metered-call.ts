import { Fault } from '../../shared/errors.ts'
import { type Estimate, estimateCall } from '../../shared/plan/call-estimate.ts'
import { callsModel, modelPriceAt, type Price } from '../../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { recordedCallWithPrompt } from '../../shared/providers/recording.ts'
import { type Amount, minus, plus } from '../../shared/runs/budget.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { LaneStands } from '../../shared/runs/run-store.ts'
import { amountOfUsage, spentOfUsage } from '../../shared/runs/usage-cost.ts'
import type { CallOrigin } from '../../shared/telemetry/telemetry-port.ts'
import { chargedAnswer, mayHaveUsed, toMicros, tracedProvider } from '../provider-call.ts'
import { leasedProvider } from '../provider-lease.ts'
import { isSpendingRefusal, spendingProvider } from '../provider-spending.ts'
import { watchDispatch } from '../watch-dispatch.ts'
import { NO_TIME, type StageCall, stageLane, stageSupersededFault, timeLeft, tokensLeft } from './stage-call.ts'

/** `skipped`: it was not made; `failed`: nobody answered. Both say why, as the middle of a sentence. */
type Metered<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'failed'; readonly fault: Fault }

interface Wanted<T> {
  /** What one try may use; asked before each. */
  estimate(): Estimate
  /** Tokens that are left for the calls after it. */
  readonly keep: number
  /** One try, within so many milliseconds; it counts what it used. */
  once(ms: number): Promise<T | Fault>
}

/** Tries of one call that nobody answered. */
const MOST_TRIES = 3
const PAUSE_MS = 1_000

/** A call of a provider for the research chain: reserved before, tried again where nobody answers. */
export async function meterCall<T>(call: StageCall, wanted: Wanted<T>): Promise<Metered<T>> {
  const { meter, world } = call
  for (let tries = 1; ; tries += 1) {
    const why = await whyNot(call, wanted.estimate(), wanted.keep)
    if (why !== undefined) return { kind: 'skipped', why }
    const reply = await wanted.once(Math.min(world.settings.research.timeout_ms, timeLeft(call)))
    if (!(reply instanceof Fault)) return { kind: 'answer', value: reply }
    const pause = pauseBeforeNext(reply, tries)
    if (pause === undefined || pause > timeLeft(call)) return { kind: 'failed', fault: reply }
    meter.retries += 1
    await world.clock.delay(pause, call.signal)
  }
}

/** Why it cannot be made: no time, or no room for it, or none for the answer after it. */
async function whyNot(call: StageCall, estimate: Estimate, keep: number): Promise<string | undefined> {
  const { meter, head } = call
  if (timeLeft(call) <= 0) return NO_TIME
  const wanted = amountOfUsage(estimate)
  const left = tokensLeft(call)
  if (head.budget.cap_usd_micros !== undefined && estimate.usd_micros === undefined) {
    return 'budget: a cap in dollars holds, and nobody knows what the model costs'
  }
  const words = `budget: a call of ${wanted.tokens} tokens does not fit into the ${Math.max(0, left)} that are left`
  if (wanted.tokens > left) {
    meter.exceeded = { of: 'run_tokens', cap: head.budget.cap_tokens ?? 0, wanted: wanted.tokens }
    return words
  }
  if (wanted.tokens + keep > left) return `${words}, since the answer needs ${keep}`
  return (await reserveStageCall(call, wanted)) ? undefined : NO_ROOM
}

/** In dollars, or in places: of one step so many calls are made at the most. */
const NO_ROOM = 'budget: another call does not fit under the caps of the run'

/** What another try may mend, after the time the provider asked for; undefined: none may. */
function pauseBeforeNext({ name, facts }: Fault, tries: number): number | undefined {
  if (name !== 'Unavailable' || tries >= MOST_TRIES) return undefined
  const { retry_after_ms } = facts
  return typeof retry_after_ms === 'number' ? retry_after_ms : PAUSE_MS * tries
}

/**
 * Sets the estimate of a model call aside in the ledger of the run, before the call is made; false = it does not fit
 * under a cap. What was set aside before and not used is taken first. Who finds the lane moved has been overtaken.
 */
async function reserveStageCall(call: StageCall, wanted: Amount): Promise<boolean> {
  const { meter, world, run, lane, step } = call
  const short = minus(plus(meter.used, wanted), meter.reserved)
  if (short.tokens === 0 && short.usd_micros === 0) return true
  const at = ordinal({ epoch: 0, attempt: step, phase: nextPhase(meter.lane, step) })
  if (readOrdinal(at).phase >= PHASE.output) return false
  const done = await world.runs.append({
    run,
    lane,
    ordinal: at,
    guard: { is: meter.lane },
    while: unansweredCondition(call),
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'budget:reserved', data: short }],
    reserve: short,
  })
  if (done.ok) {
    meter.lane = at
    meter.reserved = plus(meter.reserved, short)
    return true
  }
  if (done.because === 'budget') return false
  throw stageSupersededFault(run)
}

/** Once the answer is begun no other stage writes any more; and the answer tells what stages that failed left behind. */
export function unansweredCondition({ stage, meter }: StageCall): readonly LaneStands[] {
  return stage === 'synthesize_answer' ? meter.left : [{ lane: stageLane('synthesize_answer'), is: null }]
}

function nextPhase(lane: number | null, step: number): number {
  const { attempt, phase } = readOrdinal(lane ?? 0)
  return lane !== null && attempt === step && phase >= PHASE.reserved ? phase + 1 : PHASE.reserved
}

/** One call of a model, as a stage asks it. */
export type StageRequest = Omit<DispatchRequest, 'signal' | 'model' | 'feedback'> & {
  /** Who is asked; absent = the model of the settings. */
  readonly by?: AskedModel
}

/** A model of a provider, by the settings. */
export interface AskedModel {
  readonly provider: string
  readonly model: string
}

/** Asks a model once and counts what that used: the answer, or the Fault of a provider; else it is thrown. */
export async function dispatchOnce(
  call: StageCall,
  { by, ...request }: StageRequest,
  ms: number,
): Promise<DispatchAnswer | Fault> {
  const { world, meter } = call
  const { provider: name, model } = by ?? world.settings.research
  const provider = stageProvider(call, name)
  if (provider === undefined) return unknownProvider(call, name)
  const { estimate, price } = estimateStage(call, request, by)
  let signal = new AbortController().signal
  try {
    const answer = await watchCall(call, ms, (aborted) => {
      signal = aborted
      return provider.dispatch({ ...request, model, feedback: [], signal })
    })
    const charged = chargedAnswer(answer, { capped: true, price })
    const { tokens_in, tokens_out, usd } = charged
    countUsed(call, { tokens_in, tokens_out, ...(usd === undefined ? {} : { usd_micros: toMicros(usd) }) })
    meter.calls.push(recordedCallWithPrompt(name, { ...request, model }, answer))
    return charged
  } catch (error) {
    if (mayHaveUsed(error, { signal })) countUsed(call, estimate)
    if (error instanceof Fault && (error.code.startsWith('provider_') || isSpendingRefusal(error))) return error
    throw error
  }
}

function unknownProvider({ world }: StageCall, name: string): Fault {
  const message = `Cannot ask provider "${name}" for the research chain: it is not configured; configured are ${world.providers.names().join(', ')}. Set research.provider in sluice.yaml.`
  return new Fault('InvalidInput', 'unknown_provider', message)
}

/** The only way of a stage to a provider: each call waits for its slot there, and is told when it is over. */
export function stageProvider(call: StageCall, name: string): Provider | undefined {
  const { world, run, stage, meta } = call
  const place: CallOrigin = { run, stage }
  const traced = tracedProvider(world, name, world.providers.get(name), () => place)
  const spender = { world, run, dag: meta.dag_name, labels: meta.labels ?? {} }
  return leasedProvider(call, name, spendingProvider(spender, name, traced))
}

/** Runs one call of a model until it answers, `ms` are over, its run is stopped or the host gives up. */
export async function watchCall<T>(
  { world, run, signal: host }: StageCall,
  ms: number,
  dispatch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  host?.throwIfAborted()
  const over = new AbortController()
  const aborted = Promise.withResolvers<never>()
  const giveUp = (why: unknown) => {
    over.abort(why)
    aborted.reject(why)
  }
  const hostGivesUp = () => giveUp(host?.reason)
  host?.addEventListener('abort', hostGivesUp, { once: true })
  const due = world.clock.now() + ms
  const leave = watchDispatch(world.clock, {
    due,
    async look(now) {
      if (now >= due) return giveUp(tooSlow(ms))
      // A store that cannot be read for a moment is no reason to throw an answer away.
      if (await world.runs.stopped(run).catch(() => false)) giveUp(stageSupersededFault(run))
    },
  })
  try {
    return await Promise.race([dispatch(over.signal), aborted.promise])
  } finally {
    host?.removeEventListener('abort', hostGivesUp)
    leave()
    aborted.promise.catch(() => undefined)
  }
}

function tooSlow(ms: number): Fault {
  return new Fault('Unavailable', 'provider_timeout', `The model did not answer within ${ms} ms.`)
}

/** What a call of a model may use (of the place's, where no other is named), and its price; undefined = nobody knows. */
export function estimateStage(
  { world }: StageCall,
  request: Parameters<typeof estimateCall>[0],
  by?: { readonly provider: string; readonly model: string },
): { readonly estimate: Estimate; readonly price: Price | undefined } {
  const { provider, model } = by ?? world.settings.research
  const price = modelPriceAt(world.settings, provider, model)
  if (!callsModel(world.settings.providers, provider)) return { estimate: NO_USE, price }
  return { estimate: estimateCall(request, price), price }
}

const NO_USE: Estimate = { tokens_in: 0, tokens_out: 0, usd_micros: 0 }

/** Adds what one call used to what its stage did. */
export function countUsed({ meter }: Pick<StageCall, 'meter'>, used: Estimate): void {
  meter.used = plus(meter.used, spentOfUsage(used))
  meter.priced = meter.priced !== false && used.usd_micros !== undefined
}
