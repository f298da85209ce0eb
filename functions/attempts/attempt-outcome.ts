import { Fault } from '../../shared/errors.ts'
import type { Verdict } from '../../shared/gates/gate.ts'
import { NOT_ASKED } from '../../shared/providers/provider.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import type { StepLog } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { ProviderLease } from '../provider-lease.ts'
import type { Came } from './agents/attempt-work.ts'
import type { BlockCall } from './block-call.ts'

/** What one attempt produced, before its post-gates: values or contract problems, and what is recorded of the call. */
export interface Produced {
  readonly values: Readonly<Record<string, Json>>
  readonly problems: readonly string[]
  /** What it made did not fit into what the run may store: nothing of it is there, but what it used is told. */
  readonly refusal?: Fault
  /** Of gates the handler itself stands behind: one that does not hold fails the attempt. */
  readonly verdicts?: readonly Verdict[]
  readonly facts: {
    readonly provider: string
    readonly model: string
    readonly params_hash: string
    readonly prompt_hash: string
    readonly tokens_in: number
    readonly tokens_out: number
    readonly usd_micros?: number
    readonly unpriced_tokens?: number
    readonly finish_reason: string
    readonly note?: string
    readonly passed_over?: EventData<'block:output'>['passed_over']
    /** Its calls as they were answered: the object recordings are made of. */
    readonly raw_ref?: string | undefined
    /** Of a step: what it wrote, and what it came to as it was told. */
    readonly log?: StepLog | undefined
    readonly outcome_ref?: string | undefined
    readonly tainted?: true
  }
}

/** What one attempt is dispatched with. */
export interface Dispatch {
  readonly attempt: number
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
  readonly signal: AbortSignal
  /** Its place at the provider of its agent. */
  readonly lease: ProviderLease
}

/** A provider that asks for more than an hour is asked again after one. */
const LONGEST_WAIT_MS = 3_600_000

/** A fault as the failure it is recorded as; what we did not foresee is named without its internals. */
export function toFailure({ world, block }: Pick<BlockCall, 'world' | 'block'>, error: unknown): Failure {
  if (error instanceof Fault) {
    const wait = error.facts.retry_after_ms
    const after = typeof wait === 'number' && wait > 0 ? { retry_after_ms: Math.min(wait, LONGEST_WAIT_MS) } : {}
    const retry = error.name === 'Unavailable'
    const not_asked = error.facts[NOT_ASKED] === true ? { not_asked: true as const } : {}
    return { code: error.code, reason: shortRedacted(error.message), retry, feedback: [], ...after, ...not_asked }
  }
  world.log.error('block failed unexpectedly', { block_id: block.id, error: String(error) })
  return { code: 'unexpected', reason: 'an unexpected error in the block; the log has it', retry: false, feedback: [] }
}

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
  readonly ask?: 'pre_gates' | 'post_gates' | 'lost_step'
  /** Milliseconds the provider asked us to wait. */
  readonly retry_after_ms?: number
  /** The provider was left alone: nothing was asked of it. */
  readonly not_asked?: true
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
  /** What it made, as telemetry may tell it. */
  readonly came?: Omit<Came, 'reason'>
}

export interface Recorded {
  readonly state: 'completed' | 'failed' | 'retrying' | 'asked' | 'cancelled'
  readonly seq: number
  readonly due_at?: string
}
