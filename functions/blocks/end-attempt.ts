import type { Verdict } from '../../shared/gates/gate.ts'
import { spentWords } from '../../shared/runs/due-bounce.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import { attemptCap, retryDelayMs } from '../../shared/runs/retry-policy.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import { bounceCase } from './bounce-case.ts'
import { freedByEnd } from './freed-by-end.ts'
import { originOf } from './origin-of.ts'
import { eventHead, laneHead, ownerOf } from './own-lane.ts'
import { recordEvents } from './record-events.ts'
import { tellUse } from './told-use.ts'
import { retryBlock } from './retry-block.ts'

/** Why an attempt did not complete; `retry` = another try may help. */
export interface Failure {
  readonly code: string
  readonly reason: string
  readonly retry: boolean
  /** Lines the next try's prompt carries. */
  readonly feedback: readonly string[]
  /** Names of the gates that did not hold. */
  readonly gates?: readonly string[]
  /** Milliseconds the provider asked us to wait. */
  readonly retry_after_ms?: number
}

/** How an attempt ended, before it is recorded. */
export interface AttemptEnd {
  readonly attempt: number
  readonly output?: EventData<'block:output'>
  readonly verdicts: readonly Verdict[]
  readonly gate_events: readonly NewEvent[]
  readonly failure?: Failure
  /** The run whose result stands in for a dispatch. */
  readonly cached_from?: string
  /** The run's new deadline. */
  readonly deadline_at?: string
}

export interface Recorded {
  readonly state: 'completed' | 'failed' | 'retrying' | 'cancelled'
  readonly seq: number
  readonly due_at?: string
}

/**
 * Records the end of an attempt in one update: output, verdicts and completed, retrying or failed. Published outputs
 * appear only with block:completed. Refused (the run ended, or the attempt was superseded): the result is dropped; of an
 * attempt that was superseded RetryBlock.
 */
export async function endAttempt(call: BlockCall, end: AttemptEnd, inputs_hash: string | undefined): Promise<Recorded> {
  const { world, epoch } = call
  const { attempt } = end
  const outcome = outcomeOf(call, end)
  const told = tellUse(call, attempt, outcome.event)
  const lane = ordinal({ epoch, attempt, phase: PHASE[outcome.state] })
  const output: NewEvent[] =
    end.output === undefined ? [] : [{ type: 'block:output', ...eventHead(call), attempt, data: end.output }]
  const projection: BlockProjection = {
    ...ownerOf(call),
    ordinal: lane,
    attempt,
    ...outcome.projection,
    ...(inputs_hash === undefined ? {} : { inputs_hash }),
    ...publishedBy(end),
  }
  const done = await recordEvents(
    world,
    { epoch, attempt, phase: PHASE.gates },
    [...output, ...end.gate_events, ...told.events],
    {
      ...laneHead(call),
      ordinal: lane,
      guard: { below: ordinal({ epoch, attempt, phase: PHASE.retrying }) },
      at: new Date(world.clock.now()).toISOString(),
      ...freedByEnd(call),
      ...(end.deadline_at === undefined ? {} : { deadline_at: end.deadline_at }),
      ...told.share,
      projection,
    },
    told.reserved,
  )
  // Superseded: the block goes on under another attempt, and the machine must not go on before it has ended.
  if (!done.ok && done.because !== 'terminal') throw retryBlock(call)
  if (!done.ok) return { state: 'cancelled', seq: call.head.seq }
  return { state: outcome.state, seq: done.seq, ...(outcome.due_at === undefined ? {} : { due_at: outcome.due_at }) }
}

/** Where it failed nobody takes its outputs over: what they came of is left to the events. */
function publishedBy({ output, failure }: AttemptEnd): Pick<BlockProjection, 'outputs' | 'made'> {
  if (output === undefined) return {}
  const { outputs } = output
  return failure === undefined ? { outputs, made: originOf(output) } : { outputs }
}

interface Decided {
  readonly state: 'completed' | 'failed' | 'retrying'
  readonly event: NewEvent
  readonly projection: Pick<BlockProjection, 'state' | 'failure' | 'due_at'>
  readonly due_at?: string
}

function outcomeOf(call: BlockCall, { attempt, failure, cached_from }: AttemptEnd): Decided {
  const { block, world } = call
  const head = { ...eventHead(call), attempt }
  if (failure === undefined) {
    return {
      state: 'completed',
      event: { ...head, type: 'block:completed', data: cached_from === undefined ? {} : { cached_from } },
      projection: { state: 'completed' },
    }
  }
  const { cap, capped } = attemptCap(block.retry, world.settings.safety.max_attempts)
  const { code, feedback, gates } = failure
  const why = { code, feedback, ...(gates === undefined ? {} : { gates }) }
  if (failure.retry && attempt < cap) {
    const due_at = new Date(world.clock.now() + delayMs(call, attempt, failure)).toISOString()
    const { reason } = failure
    const projection = { state: 'retrying' as const, due_at, failure: { ...why, reason } }
    return {
      state: 'retrying',
      event: { ...head, type: 'block:retrying', data: { code, reason, due_at } },
      projection,
      due_at,
    }
  }
  const tries = triesWords(attempt, cap, capped ? block.retry.max_attempts : undefined)
  const reason = `${failure.reason}${tries}${spentWords(bounceCase(call, gates ?? []))}`
  const projection = { state: 'failed' as const, failure: { ...why, reason } }
  return { state: 'failed', event: { ...head, type: 'block:failed', data: { code, reason } }, projection }
}

/** Lost attempts are numbered but not counted against the block's own `retry` (docs/adr/0009). */
function triesWords(attempt: number, cap: number, lowered: number | undefined): string {
  const by = lowered === undefined ? '' : `, lowered from ${lowered} by the safety policy`
  if (attempt > cap) return ` (attempt ${attempt}; retry allows ${cap}${by}, lost attempts came on top)`
  return attempt > 1 || lowered !== undefined ? ` (attempt ${attempt} of ${cap}${by})` : ''
}

function delayMs({ block, world }: BlockCall, attempt: number, failure: Failure): number {
  const random = (world.ids.random(1)[0] ?? 0) / 256
  return Math.max(retryDelayMs(block.retry, attempt, random), failure.retry_after_ms ?? 0)
}
