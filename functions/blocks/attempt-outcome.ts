import { spentWords } from '../../shared/runs/due-bounce.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { attemptCap, retryDelayMs } from '../../shared/runs/retry-policy.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import { bounceCase } from './bounce-case.ts'
import type { AttemptEnd, Failure } from './end-attempt.ts'
import { eventHead } from './own-lane.ts'

interface Decided {
  readonly state: 'completed' | 'failed' | 'retrying' | 'asked'
  readonly event: NewEvent
  readonly projection: Pick<BlockProjection, 'state' | 'failure' | 'due_at' | 'asked'>
  readonly due_at?: string
}

/**
 * Completed, or asked about, or tried again while a failure that may pass has tries left, else failed. `untried`: attempts
 * that used up none (docs/adr/0009).
 */
export function attemptOutcome(call: BlockCall, end: AttemptEnd, untried: number): Decided {
  const { attempt, failure, cached_from, ask } = end
  const head = { ...eventHead(call), attempt }
  if (ask !== undefined) {
    const { approval_id, about, inputs_ref } = ask
    const asked = { approval_id, about, ...(inputs_ref === undefined ? {} : { inputs_ref }) }
    return {
      state: 'asked',
      event: { ...head, type: 'block:asked', data: ask },
      projection: { state: 'paused_approval', asked },
    }
  }
  if (failure === undefined) {
    return {
      state: 'completed',
      event: { ...head, type: 'block:completed', data: cached_from === undefined ? {} : { cached_from } },
      projection: { state: 'completed' },
    }
  }
  return failedOutcome(call, { attempt, untried }, failure)
}

interface Tries {
  readonly attempt: number
  readonly untried: number
}

function failedOutcome(call: BlockCall, tried: Tries, failure: Failure): Decided {
  const { attempt, untried } = tried
  const { block, world } = call
  const head = { ...eventHead(call), attempt }
  const { cap, capped } = attemptCap(block.retry, world.settings.safety.max_attempts)
  const { code, feedback, gates } = failure
  const why = { code, feedback, ...(gates === undefined ? {} : { gates }) }
  if (failure.retry && attempt - untried < cap) {
    const due_at = new Date(world.clock.now() + delayMs(call, attempt - untried, failure)).toISOString()
    const { reason } = failure
    const projection = { state: 'retrying' as const, due_at, failure: { ...why, reason } }
    return {
      state: 'retrying',
      event: { ...head, type: 'block:retrying', data: { code, reason, due_at } },
      projection,
      due_at,
    }
  }
  const tries = triesWords(tried, cap, capped ? block.retry.max_attempts : undefined)
  const reason = `${failure.reason}${tries}${spentWords(bounceCase(call, gates ?? []))}`
  const projection = { state: 'failed' as const, failure: { ...why, reason } }
  return { state: 'failed', event: { ...head, type: 'block:failed', data: { code, reason } }, projection }
}

function triesWords({ attempt, untried }: Tries, cap: number, lowered: number | undefined): string {
  const by = lowered === undefined ? '' : `, lowered from ${lowered} by the safety policy`
  if (untried > 0) return ` (try ${attempt - untried} of ${cap}${by}; attempts that were no try: ${untried})`
  return attempt > 1 || lowered !== undefined ? ` (attempt ${attempt} of ${cap}${by})` : ''
}

function delayMs({ block, world }: BlockCall, tries: number, failure: Failure): number {
  const random = (world.ids.random(1)[0] ?? 0) / 256
  return Math.max(retryDelayMs(block.retry, tries, random), failure.retry_after_ms ?? 0)
}
