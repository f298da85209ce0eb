import { Fault } from '../../shared/errors.ts'
import type { Estimate } from '../../shared/runs/estimate-call.ts'
import { amountUsed } from '../../shared/runs/event-cost.ts'
import { reserveStageCall } from './reserve-stage-call.ts'
import type { StageCall } from './stage-call.ts'
import { NO_TIME, timeLeft } from './time-left.ts'
import { tokensLeft } from './tokens-left.ts'

/** `skipped`: it was not made; `failed`: nobody answered. Both say why, as the middle of a sentence. */
export type Metered<T> =
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
const TRIES = 3
const PAUSE_MS = 1_000

/** A call of a provider for the research chain: reserved before, tried again where nobody answers. */
export async function meterCall<T>(call: StageCall, wanted: Wanted<T>): Promise<Metered<T>> {
  const { meter, world } = call
  for (let tries = 1; ; tries += 1) {
    const why = await whyNot(call, wanted.estimate(), wanted.keep)
    if (why !== undefined) return { kind: 'skipped', why }
    const reply = await wanted.once(Math.min(world.settings.research.timeout_ms, timeLeft(call)))
    if (!(reply instanceof Fault)) return { kind: 'answer', value: reply }
    const pause = pauseAfter(reply, tries)
    if (pause === undefined || pause > timeLeft(call)) return { kind: 'failed', fault: reply }
    meter.retries += 1
    await world.clock.delay(pause, call.signal)
  }
}

/** Why it cannot be made: no time, or no room for it, or none for the answer after it. */
async function whyNot(call: StageCall, estimate: Estimate, keep: number): Promise<string | undefined> {
  const { meter, head } = call
  if (timeLeft(call) <= 0) return NO_TIME
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
  if (wanted.tokens + keep > left) return `${words}, since the answer needs ${keep}`
  return (await reserveStageCall(call, wanted)) ? undefined : NO_ROOM
}

/** In dollars, or in places: of one step so many calls are made at the most. */
const NO_ROOM = 'budget: another call does not fit under the caps of the run'

/** What another try may mend, after the time the provider asked for; undefined: none may. */
function pauseAfter({ name, facts }: Fault, tries: number): number | undefined {
  if (name !== 'Unavailable' || tries >= TRIES) return undefined
  const { retry_after_ms } = facts
  return typeof retry_after_ms === 'number' ? retry_after_ms : PAUSE_MS * tries
}
