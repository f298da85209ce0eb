import fc from 'fast-check'
import type { EventData, NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../../shared/runs/ordinal.ts'

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

type RunEnd = 'completed' | 'partial' | 'blocked' | 'failed' | 'cancelled' | 'iterated'

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

export function verdict(block_id: string, attempt: number, status: 'passed' | 'failed', gate = 'length'): Step {
  const data = { gate, type: 'min_length', phase: 'post', status, reason: `${gate} ${status}` } as const
  const whole = { ...data, input_hash: 'h', facts: {}, duration_ms: 1 }
  return { lane: block_id, place: PHASE.gates, event: { type: 'block:gate', block_id, attempt, data: whole } }
}

export function retrying(block_id: string, attempt: number, due = 60): Step {
  const data = { code: 'gate_failed', reason: 'provider timeout', due_at: second(due) }
  return { lane: block_id, place: PHASE.retrying, event: { type: 'block:retrying', block_id, attempt, data } }
}

export function ended(block_id: string, attempt: number, state: 'completed' | 'failed', epoch = 0): Step {
  const event: NewEvent =
    state === 'completed'
      ? { type: 'block:completed', block_id, attempt, data: {} }
      : { type: 'block:failed', block_id, attempt, data: { code: 'gate_failed', reason: 'too short' } }
  return { lane: block_id, epoch, place: PHASE[state], event }
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

function reminded(block_id: string, n: number): Step {
  const data = { approval_id: `apr_${block_id}`, n }
  return { lane: `n_${block_id}`, place: n, event: { type: 'approval:reminded', block_id, data } }
}

function escalated(block_id: string): Step {
  const data = { approval_id: `apr_${block_id}`, to: ['group:leads'] }
  return { lane: `n_${block_id}`, place: 9, event: { type: 'approval:escalated', block_id, data } }
}

/** The steps of one block: perhaps sent back once or twice, and each time as run-block would write them. */
const someBlock = (id: string): fc.Arbitrary<readonly Step[]> =>
  fc.tuple(fc.array(somePass(id), { minLength: 1, maxLength: 3 }), fc.nat(40)).map(([passes, kept]) => {
    const steps = passes.flatMap((pass, epoch) => [
      ...(epoch === 0 ? [] : [rerouted([id], epoch)]),
      ...pass.map((step) => ({ ...step, epoch, event: askedIn(epoch, step.event) })),
    ])
    return steps.slice(0, 1 + kept)
  })

/** A question is asked anew in each epoch. */
function askedIn(epoch: number, event: NewEvent): NewEvent {
  if (!event.type.startsWith('approval:')) return event
  const { data } = event as Extract<NewEvent, { readonly type: 'approval:requested' }>
  return { ...event, data: { ...data, approval_id: `${data.approval_id}_${epoch}` } } as NewEvent
}

/** One epoch of a block: asked or not, some tries, an end. */
const somePass = (id: string): fc.Arbitrary<readonly Step[]> =>
  fc
    .record({
      asked: fc.constantFrom('no', 'approve', 'reject', 'expired', 'voted', 'half'),
      tries: fc.integer({ min: 1, max: 3 }),
      priced: fc.boolean(),
      end: fc.constantFrom('completed' as const, 'failed' as const, 'skipped' as const, 'cancelled' as const),
    })
    .map(({ asked, tries, priced, end }) => {
      if (end === 'skipped') return [skipped(id, 'other')]
      const asking = asked === 'no' ? [ready(id)] : [ready(id), requested(id), ...answers(id, asked)]
      const attempts = Array.from({ length: tries }, (_, i) => {
        const [n, last] = [i + 1, i + 1 === tries]
        const judged = verdict(id, n, last ? 'passed' : 'failed')
        return [started(id, n), output(id, n, priced ? 250 : null), judged, last ? endOf(id, n, end) : retrying(id, n)]
      })
      return [...asking, ...attempts.flat()]
    })

/** One answer, or a vote before it, with reminders and an escalation in between. */
function answers(id: string, asked: string): readonly Step[] {
  const told = [reminded(id, 1), escalated(id), reminded(id, 2)]
  if (asked === 'expired') return [expired(id)]
  if (asked === 'reject') return [...told, decided(id, 'reject', { iterate: 'refine' })]
  if (asked === 'approve') return [decided(id, 'approve', { edits_ref: 'objstore://e' })]
  const vote = decided(id, 'approve', { have: 1, need: 2 })
  const last = decided(id, asked === 'half' ? 'reject' : 'approve', { have: 2, need: 2 })
  return [...told, { ...vote, place: 61 }, last]
}

function endOf(id: string, attempt: number, end: 'completed' | 'failed' | 'cancelled'): Step {
  return end === 'cancelled' ? cancelled(id, attempt) : ended(id, attempt, end)
}

/** Whole logs of some blocks side by side, their steps mixed in any order that keeps each block's own. */
export const someLog: fc.Arbitrary<readonly RunEvent[]> = fc
  .tuple(
    fc.tuple(...['build', 'constructor', 'toString', '7'].map(someBlock)),
    fc.array(fc.nat(3), { maxLength: 160 }),
    fc.option(fc.constantFrom<RunEnd>('completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'), {
      nil: undefined,
    }),
  )
  .map(([blocks, turns, end]) => {
    const queues = blocks.map((steps) => [...steps])
    const mixed = turns.flatMap((turn) => queues[turn]?.splice(0, 1) ?? [])
    return logOf([runStarted, ...mixed, ...queues.flat(), ...(end === undefined ? [] : [runEnded(end)])])
  })
