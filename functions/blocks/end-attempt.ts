import type { Verdict } from '../../shared/gates/gate.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import { attemptOutcome } from './attempt-outcome.ts'
import type { BlockCall, BlockInputs } from './block-call.ts'
import { freedByEnd } from './freed-by-end.ts'
import { heldBy, publishedBy } from './left-by-end.ts'
import { eventHead, laneHead, ownerOf } from './own-lane.ts'
import { questionFor } from './question-for.ts'
import { recordEvents } from './record-events.ts'
import { retryBlock } from './retry-block.ts'
import { stepsLeft } from './steps-left.ts'
import { tellUse } from './told-use.ts'

/** Why an attempt did not complete; `retry` = another try may help. */
export interface Failure {
  readonly code: string
  readonly reason: string
  readonly retry: boolean
  /** Lines the next try's prompt carries. */
  readonly feedback: readonly string[]
  /** Names of the gates that did not hold. */
  readonly gates?: readonly string[]
  /** A person may waive them. */
  readonly ask?: 'pre_gates' | 'post_gates'
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
  /** What a person is asked about it instead. */
  readonly ask?: EventData<'block:asked'>
  /** What it had made before a person was asked about it. */
  readonly stored?: Pick<BlockProjection, 'outputs' | 'made'>
  /** The run whose result stands in for a dispatch. */
  readonly cached_from?: string
  /** The run's new deadline. */
  readonly deadline_at?: string
}

export interface Recorded {
  readonly state: 'completed' | 'failed' | 'retrying' | 'asked' | 'cancelled'
  readonly seq: number
  readonly due_at?: string
}

/** What the values an attempt works with are told as. */
interface WorkedWith {
  readonly hash: string | undefined
  /** Kept where a person is asked before they are used. */
  readonly inputs?: BlockInputs
  /** As its claim has it, where another invocation made that. */
  readonly untried?: number | undefined
}

/**
 * Records the end of an attempt in one update: output, verdicts and completed, retrying, asked or failed. Published
 * outputs appear only with block:completed. Refused (the run ended, or the attempt was superseded): the result is dropped; of an
 * attempt that was superseded RetryBlock.
 */
export async function endAttempt(
  call: BlockCall,
  given: AttemptEnd,
  { hash, inputs, untried: claimed = 0 }: WorkedWith,
): Promise<Recorded> {
  const { world, epoch } = call
  const { attempt } = given
  const { leg, first } = stepsLeft(call, attempt)
  const ask = await questionFor(call, { failure: given.failure, leg, inputs })
  const end = ask === undefined ? given : { ...given, ask }
  const untried = call.meter.claim?.untried ?? claimed
  const outcome = attemptOutcome(call, end, untried)
  const told = tellUse(call, attempt, outcome.event)
  const lane = ordinal({ epoch, attempt, leg, phase: PHASE[outcome.state] })
  const output: NewEvent[] =
    end.output === undefined ? [] : [{ type: 'block:output', ...eventHead(call), attempt, data: end.output }]
  const projection: BlockProjection = {
    ...ownerOf(call),
    ordinal: lane,
    attempt,
    ...outcome.projection,
    ...(untried === 0 ? {} : { untried }),
    ...(hash === undefined ? {} : { inputs_hash: hash }),
    ...publishedBy(end),
    ...(ask === undefined ? {} : await heldBy(call)),
  }
  const done = await recordEvents(
    world,
    { epoch, attempt, leg, phase: first },
    [...output, ...end.gate_events, ...told.events],
    {
      ...laneHead(call),
      ordinal: lane,
      guard: { below: ordinal({ epoch, attempt, leg, phase: PHASE.retrying }) },
      at: new Date(world.clock.now()).toISOString(),
      // Items stay until the block has ended.
      ...(ask === undefined ? freedByEnd(call) : { end: ownerOf(call) }),
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
