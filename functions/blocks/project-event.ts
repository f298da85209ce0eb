import type { Block } from '../../shared/dag/dag.ts'
import { REJECTION_GATE } from '../../shared/dag/rejection-gate.ts'
import { less, NOTHING, plus } from '../../shared/runs/amounts.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { amountOf } from '../../shared/runs/event-cost.ts'
import { NO_TRY } from '../../shared/runs/retry-policy.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import { originOf } from './origin-of.ts'
import { LEASE_MS } from './watch-attempt.ts'

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

/** A projection while it is made again from the events of its lane. */
export interface Projected {
  readonly facts: Pick<
    BlockProjection,
    | 'state'
    | 'untried'
    | 'holder'
    | 'lease_until'
    | 'child'
    | 'binding_ref'
    | 'items'
    | 'inputs_hash'
    | 'reserved'
    | 'outputs'
    | 'made'
    | 'due_at'
    | 'failure'
    | 'asked'
  >
  /** Gates of this attempt that did not hold. */
  readonly refused: readonly { readonly name: string; readonly line: string; readonly phase: 'pre' | 'post' }[]
}

type Facts = Projected['facts']

/** The projection after this event of its lane. */
export function projectEvent(before: Projected, event: RunEvent, block: Block | undefined): Projected {
  const { facts, refused } = before
  switch (event.type) {
    case 'block:started':
      return { facts: { ...begun(facts, event), inputs_hash: event.data.inputs_hash }, refused: [] }
    case 'block:resumed':
      return { facts: { ...begun(facts, event), ...pick(facts, ['inputs_hash']) }, refused }
    case 'block:asked':
      return { facts: askedAbout(facts, event), refused }
    case 'budget:reserved':
      return { facts: { ...facts, ...heldBy(facts, event) }, refused }
    case 'block:output': {
      const reserved = less(facts.reserved ?? NOTHING, amountOf([event]))
      return { facts: { ...facts, reserved, outputs: event.data.outputs, made: originOf(event.data) }, refused }
    }
    case 'block:gate':
      return { facts, refused: judged(refused, event, block) }
    default:
      return { facts: endedBy(before, event, block), refused }
  }
}

function begun(facts: Facts, { at, data }: EventOf<'block:started' | 'block:resumed'>): Facts {
  const { holder, lease_until, child, items, binding_ref } = data
  return {
    state: 'running',
    holder,
    lease_until,
    ...(child === undefined ? {} : { child }),
    ...(binding_ref === undefined ? {} : { binding_ref }),
    ...pick(facts, ['failure', 'untried']),
    ...(items === undefined ? {} : { items: { ...items, since: at } }),
  }
}

/** Of a gate that was judged and then waived the last verdict counts. */
function judged(
  refused: Projected['refused'],
  { data: { gate, status, reason, phase } }: EventOf<'block:gate'>,
  block: Block | undefined,
): Projected['refused'] {
  const others = refused.filter((one) => one.name !== gate || one.phase !== phase)
  const holds = status === 'passed' || status === 'waived' || warns(block, gate)
  return holds ? others : [...others, { name: gate, line: `${gate}: ${reason}`, phase }]
}

function endedBy({ facts, refused }: Projected, event: RunEvent, block: Block | undefined): Facts {
  switch (event.type) {
    case 'block:retrying': {
      const { due_at } = event.data
      return {
        ...ended(facts, 'retrying'),
        ...counted(facts, event),
        due_at,
        failure: failureOf(event, facts, refused),
      }
    }
    case 'block:failed': {
      const failure = { ...failureOf(event, facts, refused), ...routed(event, block) }
      return { ...ended(facts, 'failed'), ...counted(facts, event), failure }
    }
    case 'block:completed':
      return { ...ended(facts, 'completed'), ...pick(facts, ['untried']) }
    case 'block:cancelled':
      return { ...ended(facts, 'cancelled'), failure: failureOf(event, facts, refused) }
    case 'block:skipped':
      return ended(facts, 'skipped')
    default:
      return facts
  }
}

function counted(
  { untried = 0 }: Facts,
  { data: { code } }: EventOf<'block:retrying' | 'block:failed'>,
): Partial<Facts> {
  const all = untried + (NO_TRY.has(code) ? 1 : 0)
  return all === 0 ? {} : { untried: all }
}

/** What the attempt has made and is of stays until it is answered. */
function askedAbout(facts: Facts, { data }: Extract<RunEvent, { type: 'block:asked' }>): Facts {
  const { approval_id, about, inputs_ref } = data
  const asked = { approval_id, about, ...(inputs_ref === undefined ? {} : { inputs_ref }) }
  const kept = pick(facts, ['inputs_hash', 'outputs', 'made', 'items', 'child', 'failure', 'untried'])
  return { ...kept, state: 'paused_approval', asked }
}

function pick<K extends keyof Facts>(facts: Facts, keys: readonly K[]): Partial<Facts> {
  return Object.fromEntries(keys.flatMap((key) => (facts[key] === undefined ? [] : [[key, facts[key]]])))
}

/** A reservation renews the lease of who makes it; a child run holds its attempt for as long as it lives. */
function heldBy(
  { reserved = NOTHING, child, lease_until }: Facts,
  { at, data }: Extract<RunEvent, { type: 'budget:reserved' }>,
): Partial<Facts> {
  const lease = child === undefined ? new Date(Date.parse(at) + LEASE_MS).toISOString() : lease_until
  return { reserved: plus(reserved, data), ...(lease === undefined ? {} : { lease_until: lease }) }
}

function ended({ outputs, inputs_hash, made }: Facts, state: BlockProjection['state']): Facts {
  return {
    state,
    ...(inputs_hash === undefined ? {} : { inputs_hash }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(made === undefined || state !== 'completed' ? {} : { made }),
  }
}

function failureOf(
  { data: { code, reason } }: Extract<RunEvent, { type: 'block:retrying' | 'block:failed' | 'block:cancelled' }>,
  before: Facts,
  refused: Projected['refused'],
): NonNullable<BlockProjection['failure']> {
  if (code === 'ATTEMPT_LOST') return { code, reason, feedback: before.failure?.feedback ?? [] }
  const isRefused = code === 'ask_rejected' || code === 'ask_expired'
  if (isRefused) return refusedAsk({ code, reason }, before, refused)
  if (!/_gate_(failed|refused)$/.test(code)) return { code, reason, feedback: [reason] }
  // A pre-gate that failed while its composition held is no part of what the post-gates refused.
  const mine = code === 'post_gate_failed' ? refused.filter(({ phase }) => phase === 'post') : refused
  return { code, reason, feedback: mine.map(({ line }) => line), gates: mine.map(({ name }) => name) }
}

/** A rejection that sends the run back goes by the name its rules have for it. */
function routed(
  { data: { code } }: Extract<RunEvent, { type: 'block:failed' }>,
  block: Block | undefined,
): Partial<NonNullable<BlockProjection['failure']>> {
  return code === 'approval_rejected' && block?.approval?.on_reject === 'route' ? { gates: [REJECTION_GATE] } : {}
}

/** A person did not let it pass: the gates that were asked about failed it, and those words are the last line. */
function refusedAsk(
  told: { readonly code: string; readonly reason: string },
  { asked }: Facts,
  refused: Projected['refused'],
): NonNullable<BlockProjection['failure']> {
  const phase = asked?.about === 'pre_gates' ? 'pre' : 'post'
  const mine = asked?.about === 'budget' ? [] : refused.filter((one) => one.phase === phase)
  const gates = mine.length === 0 ? {} : { gates: mine.map(({ name }) => name) }
  return { ...told, feedback: [...mine.map(({ line }) => line), told.reason], ...gates }
}

function warns(block: Block | undefined, gate: string): boolean {
  const uses = [...(block?.pre_gates ?? []), ...(block?.post_gates ?? []), ...(block?.foreach?.item_gates ?? [])]
  return uses.some(({ name, on_fail }) => name === gate && on_fail === 'warn')
}
