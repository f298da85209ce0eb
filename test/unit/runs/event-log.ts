import type { EventData, NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../../shared/runs/lane.ts'

export const RUN_ID = `run_${'0'.repeat(26)}`

/** 2026-01-01 plus so many seconds. */
export function second(n: number): string {
  return new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString()
}

/** One event a second, each with the id its lane and place would give it. */
export function logOf(steps: readonly Step[]): readonly RunEvent[] {
  return steps.map(({ lane = 'run', epoch = 0, place = PHASE.claimed, event }, i) => ({
    seq: i + 1,
    id: `${lane}/${ordinal({ epoch, attempt: event.attempt ?? 0, phase: place })}/0`,
    run_id: RUN_ID,
    at: second(i + 1),
    ...event,
  }))
}

export interface Step {
  readonly lane?: string
  readonly epoch?: number
  readonly place?: number
  readonly event: NewEvent
}

export const runStarted: Step = {
  event: {
    type: 'run:started',
    data: {
      dag_name: 'brief',
      dag_hash: 'd',
      inputs_hash: 'i',
      starter: 'user:ana',
      deadline_at: second(3_600),
      caps: {},
    },
  },
}

export type RunEnd = 'completed' | 'partial' | 'blocked' | 'failed' | 'cancelled' | 'iterated'

/** Before its end, on a lane of its own. */
export function goalEvaluated(final_status: 'SUCCESS' | 'PARTIAL' | 'BLOCKED'): Step {
  const numbers = { met: 1, total: 2, attempt: 1, trust_passed: true, quality_passed: true }
  const data = {
    status: 'NOT_MET',
    row: 'PASS x NOT_MET',
    final_status,
    action: 'pivot',
    ref: 'objstore://g',
    ...numbers,
  }
  return { lane: 'g', place: PHASE.completed, event: { type: 'goal:evaluated', data } }
}

/** How the run a log tells of ended when its gates judged it. */
export function judgedEnd(state: 'completed' | 'partial' | 'blocked', next_run?: string): Step {
  const final_status = ({ completed: 'SUCCESS', partial: 'PARTIAL', blocked: 'BLOCKED' } as const)[state]
  const { event, ...step } = runEnded(state)
  const next = next_run === undefined ? {} : { next_run }
  const data = { code: `run_${state}`, reason: 'because', final_status, row: 'PASS x NOT_MET', ...next }
  return { ...step, event: { ...event, type: `run:${state}`, data } }
}

export function runEnded(state: RunEnd, block_id?: string): Step {
  const data = { code: `run_${state}`, reason: 'because', ...(block_id === undefined ? {} : { block_id }) }
  const places = { ...PHASE, partial: 94, blocked: 95, iterated: 96 }
  return { place: places[state], event: { type: `run:${state}`, data } }
}

export function ready(block_id: string): Step {
  return { lane: block_id, event: { type: 'block:ready', block_id, data: {} } }
}

export function started(block_id: string, attempt: number, epoch = 0): Step {
  const data = { inputs_hash: 'i', context_version: 0, holder: 'boot/1', lease_until: second(30) }
  return { lane: block_id, epoch, event: { type: 'block:started', block_id, attempt, data } }
}

/** Two ports, 15 tokens; `usd_micros` null = the price is unknown. */
export function output(block_id: string, attempt: number, usd_micros: number | null = 250): Step {
  const value = (name: string) => ({ ref: `objstore://main/${name}`, sha256: name, bytes: 1 })
  const data: EventData<'block:output'> = {
    outputs: { text: value(`${block_id}.text`), also: value(`${block_id}.also`) },
    provider: 'local',
    model: 'outline',
    params_hash: 'p',
    prompt_hash: 'q',
    tokens_in: 10,
    tokens_out: 5,
    ...(usd_micros === null ? {} : { usd_micros }),
    latency_ms: 3,
    finish_reason: 'local',
  }
  return { lane: block_id, place: PHASE.output, event: { type: 'block:output', block_id, attempt, data } }
}

export function verdict(
  block_id: string,
  attempt: number,
  status: 'passed' | 'failed' | 'waived',
  gate = 'length',
): Step {
  const data = { gate, type: 'min_length', phase: 'post', status, reason: `${gate} ${status}` } as const
  const whole = { ...data, input_hash: 'h', facts: {}, duration_ms: 1 }
  return { lane: block_id, place: PHASE.gates, event: { type: 'block:gate', block_id, attempt, data: whole } }
}

export function retrying(block_id: string, attempt: number, due = 60, code = 'gate_failed'): Step {
  const data = { code, reason: 'provider timeout', due_at: second(due) }
  return { lane: block_id, place: PHASE.retrying, event: { type: 'block:retrying', block_id, attempt, data } }
}

export function ended(block_id: string, attempt: number, state: 'completed' | 'failed', epoch = 0): Step {
  const event: NewEvent =
    state === 'completed'
      ? { type: 'block:completed', block_id, attempt, data: {} }
      : { type: 'block:failed', block_id, attempt, data: { code: 'gate_failed', reason: 'too short' } }
  return { lane: block_id, epoch, place: PHASE[state], event }
}

/** An attempt waits for an event, and one it cannot judge comes by. */
export function waiting(block_id: string, attempt: number): readonly Step[] {
  const data = { for: 'event', until: second(900), name: 'go', key: 'k', inputs_ref: 'objstore://main/i' } as const
  const other = { event_id: 'e1', reason: 'its match could not be computed' }
  return [
    { lane: block_id, place: PHASE.waiting, event: { type: 'block:waiting', block_id, attempt, data } },
    { lane: block_id, place: PHASE.waiting + 1, event: { type: 'block:match_failed', block_id, attempt, data: other } },
  ]
}

export function woken(block_id: string, attempt: number, by: 'event' | 'time'): Step {
  const payload = { ref: 'objstore://main/p', sha256: 'p', bytes: 1 }
  const data = by === 'time' ? { by } : { by, event_id: 'e2', came_at: second(5), payload }
  return { lane: block_id, place: PHASE.woken, event: { type: 'block:woken', block_id, attempt, data } }
}

/** Stopped alone; the run goes on. */
export function cancelled(block_id: string, attempt: number): Step {
  const data = { code: 'block_cancelled', reason: 'stopped by user:bo' }
  return { lane: block_id, place: PHASE.cancelled, event: { type: 'block:cancelled', block_id, attempt, data } }
}

export function skipped(block_id: string, because: string): Step {
  const event: NewEvent = { type: 'block:skipped', block_id, data: { because: [because] } }
  return { lane: block_id, place: PHASE.skipped, event }
}

/** The blocks begin again in this epoch. */
export function rerouted(reset: readonly string[], epoch: number): Step {
  const data = { to: reset[0] ?? '', reset: [...reset], bounce: epoch, max: 9, epoch, reason: 'not yet' }
  return { lane: 'm0', epoch, place: PHASE.completed, event: { type: 'block:rerouted', data } }
}

export function requested(block_id: string): Step {
  const asked = { approval_id: `apr_${block_id}`, digest: 'g', prompt_hash: 'q', approvers: ['user:bo'], quorum: 1 }
  const data = { ...asked, expires_at: second(1_800) }
  return { lane: `a_${block_id}`, event: { type: 'approval:requested', block_id, data } }
}

export function decided(
  block_id: string,
  decision: 'approve' | 'reject',
  over: Partial<EventData<'approval:decided'>> = {},
): Step {
  const by = { kind: 'user', id: 'bo' }
  const data = { approval_id: `apr_${block_id}`, decision, by, via: 'cli', digest: 'g', have: 1, need: 1, ...over }
  const whole = { ...data, waited_ms: 5_000, policy: 'approvers' }
  return { lane: `a_${block_id}`, place: PHASE.completed, event: { type: 'approval:decided', block_id, data: whole } }
}

export function expired(block_id: string): Step {
  const data = { approval_id: `apr_${block_id}`, on_timeout: 'reject' as const }
  return { lane: `a_${block_id}`, place: PHASE.completed, event: { type: 'approval:expired', block_id, data } }
}

export function reminded(block_id: string, n: number): Step {
  const data = { approval_id: `apr_${block_id}`, n }
  return { lane: `n_${block_id}`, place: n, event: { type: 'approval:reminded', block_id, data } }
}

export function escalated(block_id: string): Step {
  const data = { approval_id: `apr_${block_id}`, to: ['group:leads'] }
  return { lane: `n_${block_id}`, place: 9, event: { type: 'approval:escalated', block_id, data } }
}
