import { Fault } from '../../shared/errors.ts'
import { priceAt } from '../../shared/price-at.ts'
import type { DispatchAnswer, DispatchRequest } from '../../shared/provider.ts'
import { recordedCall } from '../../shared/recording.ts'
import { plus } from '../../shared/runs/amounts.ts'
import { estimateCall } from '../../shared/runs/estimate-call.ts'
import { amountUsed } from '../../shared/runs/event-cost.ts'
import { chargedAnswer, mayHaveUsed } from '../blocks/charged-answer.ts'
import { leasedProvider } from '../blocks/provider-lease.ts'
import { wholeMicros } from '../blocks/whole-amounts.ts'
import { reserveCall } from './reserve-call.ts'
import type { StageCall } from './stage-call.ts'
import { NO_TIME, timeLeft } from './time-left.ts'
import { tokensLeft } from './tokens-left.ts'
import { watchCall } from './watch-call.ts'

/** One call of the model; `keep` tokens are left for the calls after it. */
export type ModelRequest = Omit<DispatchRequest, 'signal' | 'model' | 'feedback'> & { readonly keep: number }

/** `skipped`: it was not made; `failed`: nobody answered. Both say why, as the middle of a sentence. */
export type ModelReply =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

/** Tries of one call that nobody answered. */
const TRIES = 3
const PAUSE_MS = 1_000

/** Asks the place's model for the research chain: reserved before, counted after, tried again where nobody answers. */
export async function callModel(call: StageCall, request: ModelRequest): Promise<ModelReply> {
  const { meter, world } = call
  for (let tries = 1; ; tries += 1) {
    const why = await whyNot(call, request)
    if (why !== undefined) return { kind: 'skipped', why }
    const reply = await dispatchOnce(call, request)
    if (!(reply instanceof Fault)) return { kind: 'answer', text: reply.text }
    // It answered what nobody can read: no answer either, and worth asking once more.
    if (reply.code === 'provider_invalid') return { kind: 'answer', text: '' }
    const failed = { kind: 'failed', why: `the model did not answer: ${reply.code}` } as const
    const pause = pauseAfter(reply, tries)
    if (pause === undefined || pause > timeLeft(call)) return failed
    meter.retries += 1
    await world.clock.delay(pause, call.signal)
  }
}

/** Why it cannot be made: no time, or no room for it, or none for the answer after it. */
async function whyNot(call: StageCall, request: ModelRequest): Promise<string | undefined> {
  const { meter, head } = call
  if (timeLeft(call) <= 0) return NO_TIME
  const estimate = estimateOf(call, request)
  const wanted = amountUsed(estimate)
  const left = tokensLeft(call)
  if (head.budget.cap_usd_micros !== undefined && estimate.usd_micros === undefined) {
    return 'budget: a cap in dollars holds, and nobody knows what the model costs'
  }
  const words = `budget: a call of ${wanted.tokens} tokens does not fit into the ${Math.max(0, left)} that are left`
  if (wanted.tokens > left) {
    meter.exceeded = { of: 'run_tokens', cap: head.budget.cap_tokens ?? 0, wanted: wanted.tokens }
    return words
  }
  if (wanted.tokens + request.keep > left) return `${words}, since the answer needs ${request.keep}`
  return (await reserveCall(call, wanted)) ? undefined : words
}

function estimateOf({ world }: StageCall, request: ModelRequest) {
  const { provider, model } = world.settings.research
  return estimateCall(request, priceAt(world.settings.providers, provider, model))
}

/** The answer, or the Fault of a provider; what is none of these is thrown. */
async function dispatchOnce(call: StageCall, request: ModelRequest): Promise<DispatchAnswer | Fault> {
  const { world, meter } = call
  const { provider: name, model, timeout_ms } = world.settings.research
  const provider = leasedProvider(call, name, world.providers.get(name))
  if (provider === undefined) return unknownProvider(call, name)
  const price = priceAt(world.settings.providers, name, model)
  const { keep: _, ...asked } = request
  let signal = new AbortController().signal
  try {
    const answer = await watchCall(call, Math.min(timeout_ms, timeLeft(call)), (aborted) => {
      signal = aborted
      return provider.dispatch({ ...asked, model, feedback: [], signal })
    })
    const charged = chargedAnswer(answer, { capped: true, price })
    const { tokens_in, tokens_out, usd = 0 } = charged
    meter.used = plus(meter.used, { tokens: tokens_in + tokens_out, usd_micros: wholeMicros(usd) })
    meter.calls.push(recordedCall(name, { ...asked, model }, answer))
    return charged
  } catch (error) {
    if (mayHaveUsed(error, { signal })) meter.used = plus(meter.used, amountUsed(estimateOf(call, request)))
    if (error instanceof Fault && error.code.startsWith('provider_')) return error
    throw error
  }
}

/** What another try may mend, after the time the provider asked for; undefined: none may. */
function pauseAfter({ name, facts }: Fault, tries: number): number | undefined {
  if (name !== 'Unavailable' || tries >= TRIES) return undefined
  const { retry_after_ms } = facts
  return typeof retry_after_ms === 'number' ? retry_after_ms : PAUSE_MS * tries
}

function unknownProvider({ world }: StageCall, name: string): Fault {
  const message = `Cannot ask provider "${name}" for the research chain: it is not configured; configured are ${world.providers.names().join(', ')}. Set research.provider in sluice.yaml.`
  return new Fault('InvalidInput', 'unknown_provider', message)
}
