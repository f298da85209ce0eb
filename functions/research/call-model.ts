import { Fault } from '../../shared/errors.ts'
import { amountUsed } from '../../shared/runs/event-cost.ts'
import { dispatchOnce, type StageRequest } from './dispatch-once.ts'
import { estimateStage } from './estimate-stage.ts'
import { reserveStageCall } from './reserve-stage-call.ts'
import type { StageCall } from './stage-call.ts'
import { NO_TIME, timeLeft } from './time-left.ts'
import { tokensLeft } from './tokens-left.ts'

/** `skipped`: it was not made; `failed`: nobody answered. Both say why, as the middle of a sentence. */
export type ModelReply =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

/** Tries of one call that nobody answered. */
const TRIES = 3
const PAUSE_MS = 1_000

/**
 * Asks the place's model for the research chain: reserved before, counted after, tried again where nobody answers.
 * `keep` tokens are left for the calls after it.
 */
export async function callModel(call: StageCall, request: StageRequest, keep: number): Promise<ModelReply> {
  const { meter, world } = call
  for (let tries = 1; ; tries += 1) {
    const why = await whyNot(call, request, keep)
    if (why !== undefined) return { kind: 'skipped', why }
    const ms = Math.min(world.settings.research.timeout_ms, timeLeft(call))
    const reply = await dispatchOnce(call, request, ms)
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
async function whyNot(call: StageCall, request: StageRequest, keep: number): Promise<string | undefined> {
  const { meter, head } = call
  if (timeLeft(call) <= 0) return NO_TIME
  const { estimate } = estimateStage(call, request)
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
