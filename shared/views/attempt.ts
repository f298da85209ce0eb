import type { EventData, RunEvent, StoredValue } from '../runs/event.ts'
import { itemsBegun } from '../runs/fold-draft.ts'
import { approvalEpoch } from '../runs/ids.ts'
import { eventPosition, type RunFold, type StepFold } from '../runs/run-fold.ts'
import { unpricedTokens, usedByEvent } from '../runs/usage-cost.ts'

/** One attempt as its events tell it. */
interface AttemptView extends Pick<StepFold, 'epoch' | 'attempt' | 'item' | 'state' | 'started_at' | 'ended_at'> {
  readonly inputs_hash?: string
  readonly context_version?: number
  /** foreach: how many items began with it. */
  readonly item_count?: number
  /** Of an agent that acts: the first turn of it. */
  readonly first_turn?: number
  /** The child run that did its work. */
  readonly child?: string
  readonly provider?: string
  readonly model?: string
  readonly tokens_in: number
  readonly tokens_out: number
  /** Sum of the known prices; null = none is known. */
  readonly usd: number | null
  /** Tokens whose price nobody knows; absent when there are none. */
  readonly unpriced_tokens?: number
  readonly latency_ms?: number
  readonly finish_reason?: string
  readonly note?: string
  /** Those that were asked before the one that answered, and why they did not. */
  readonly passed_over?: NonNullable<EventData<'block:output'>['passed_over']>
  readonly outputs: Readonly<Record<string, StoredValue>>
  readonly gates: readonly EventData<'block:gate'>[]
  readonly error?: { readonly code: string; readonly reason: string }
  /** The run whose result stands in for a dispatch. */
  readonly cached_from?: string
  /** What its step wrote. */
  readonly log?: NonNullable<EventData<'block:output'>['log']>
  /** Ids of what people were asked before and during it. */
  readonly approvals?: readonly string[]
}

/** The events of the lane of one attempt. */
export function attemptEvents(events: readonly RunEvent[], step: StepFold): readonly RunEvent[] {
  return events.filter((event) => {
    if (event.block_id !== step.block_id || !event.type.startsWith('block:')) return false
    const { epoch, attempt, item } = eventPosition(event)
    return epoch === step.epoch && attempt === step.attempt && item === step.item
  })
}

export function viewAttempt(step: StepFold, own: readonly RunEvent[], fold: Pick<RunFold, 'approvals'>): AttemptView {
  const { epoch, attempt, item, state, started_at, ended_at } = step
  const approvals = askedOf(step, own, fold)
  return {
    epoch,
    attempt,
    ...(item === undefined ? {} : { item }),
    state,
    started_at,
    ...(ended_at === undefined ? {} : { ended_at }),
    ...startOf(own),
    ...answerOf(own),
    ...usedIn(own),
    gates: own.flatMap((event) => (event.type === 'block:gate' ? [event.data] : [])),
    ...endOf(own),
    ...(approvals.length === 0 ? {} : { approvals }),
  }
}

function startOf(
  own: readonly RunEvent[],
): Pick<AttemptView, 'inputs_hash' | 'context_version' | 'item_count' | 'first_turn' | 'child'> {
  const started = own.find(({ type }) => type === 'block:started')
  if (started?.type !== 'block:started') return {}
  const { inputs_hash, context_version, items, child } = started.data
  return {
    inputs_hash,
    context_version,
    ...itemsBegun(items),
    ...(child === undefined ? {} : { child }),
  }
}

type Answer = 'provider' | 'model' | 'latency_ms' | 'finish_reason' | 'note' | 'passed_over' | 'outputs' | 'log'

function answerOf(own: readonly RunEvent[]): Pick<AttemptView, Answer> {
  const output = own.findLast(({ type }) => type === 'block:output')
  if (output?.type !== 'block:output') return { outputs: {} }
  const { outputs, provider, model, latency_ms, finish_reason, note, passed_over, log } = output.data
  const told = {
    ...(note === undefined ? {} : { note }),
    ...(passed_over === undefined ? {} : { passed_over }),
    ...(log === undefined ? {} : { log }),
  }
  return { provider, model, latency_ms, finish_reason, outputs, ...told }
}

/** What calls of providers used that these events are the first to tell of. */
export function usedIn(
  own: readonly RunEvent[],
): Pick<AttemptView, 'tokens_in' | 'tokens_out' | 'usd' | 'unpriced_tokens'> {
  const used = own.map(usedByEvent).filter((cost) => cost !== undefined)
  const unpriced_tokens = used.reduce((sum, one) => sum + unpricedTokens(one), 0)
  const priced = used.flatMap(({ usd_micros }) => (usd_micros === undefined ? [] : [usd_micros]))
  return {
    tokens_in: used.reduce((sum, { tokens_in }) => sum + tokens_in, 0),
    tokens_out: used.reduce((sum, { tokens_out }) => sum + tokens_out, 0),
    usd: priced.length === 0 ? null : priced.reduce((sum, micros) => sum + micros, 0) / 1_000_000,
    ...(unpriced_tokens === 0 ? {} : { unpriced_tokens }),
  }
}

function endOf(own: readonly RunEvent[]): Pick<AttemptView, 'error' | 'cached_from'> {
  const end = own.findLast(({ type }) => ENDS.has(type))
  if (end?.type === 'block:completed')
    return end.data.cached_from === undefined ? {} : { cached_from: end.data.cached_from }
  if (end?.type !== 'block:retrying' && end?.type !== 'block:failed' && end?.type !== 'block:cancelled') return {}
  const { code, reason } = end.data
  return { error: { code, reason } }
}

const ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:retrying', 'block:failed', 'block:cancelled'])

/** About the work itself a person is asked once an epoch, before its first attempt; about gates and budget within one. */
function askedOf(
  { block_id, epoch, item }: StepFold,
  own: readonly RunEvent[],
  { approvals }: Pick<RunFold, 'approvals'>,
): readonly string[] {
  const within = own.flatMap((event) => (event.type === 'block:asked' ? [event.data.approval_id] : []))
  const before = Object.values(approvals).filter((one) => {
    const isOfWork = one.about === undefined || one.about === 'dispatch'
    return item === undefined && one.block_id === block_id && isOfWork && approvalEpoch(one.approval_id) === epoch
  })
  return [...new Set([...before.map(({ approval_id }) => approval_id), ...within])]
}
