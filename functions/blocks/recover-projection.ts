import type { Block } from '../../shared/dag/dag.ts'
import { REJECTION_GATE } from '../../shared/dag/rejection-gate.ts'
import { less, NOTHING, plus } from '../../shared/runs/amounts.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { amountOf } from '../../shared/runs/event-cost.ts'
import { type LaneOwner, laneKey } from '../../shared/runs/lane-key.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'
import { originOf } from './origin-of.ts'
import { LEASE_MS } from './watch-attempt.ts'

const PAGE = 500

/** A block's projection made again from the events of its lane's epoch, as the writer that died would have left it. */
export async function recoverProjection(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  owner: LaneOwner,
  lane: number,
): Promise<BlockProjection> {
  const { dag } = await readPinned(world, run)
  const { epoch, attempt, outcome } = readOrdinal(lane)
  let found: Found = { facts: { state: outcome ?? 'running' }, refused: [] }
  for (let since = 0; ; ) {
    const events = await world.runs.events(run, since, PAGE)
    for (const event of events) {
      if (!isOf(event, laneKey(owner), epoch)) continue
      found = next(found, event, dag.blocks[owner.block])
    }
    const last = events.at(-1)
    if (last === undefined || events.length < PAGE) return { ...owner, ordinal: lane, attempt, ...found.facts }
    since = last.seq
  }
}

interface Found {
  readonly facts: Pick<
    BlockProjection,
    | 'state'
    | 'holder'
    | 'lease_until'
    | 'child'
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

function isOf({ id }: RunEvent, key: string, epoch: number): boolean {
  const [lane, ordinal] = id.split('/')
  return lane === key && readOrdinal(Number(ordinal)).epoch === epoch
}

function next({ facts, refused }: Found, event: RunEvent, block: Block | undefined): Found {
  switch (event.type) {
    case 'block:started': {
      const { holder, lease_until, inputs_hash, child, items } = event.data
      const before = {
        ...(facts.failure === undefined ? {} : { failure: facts.failure }),
        ...(items === undefined ? {} : { items: { ...items, since: event.at } }),
      }
      const run = child === undefined ? {} : { child }
      return { facts: { state: 'running', holder, lease_until, inputs_hash, ...run, ...before }, refused: [] }
    }
    case 'block:asked':
      return { facts: askedAbout(facts, event), refused }
    case 'block:resumed': {
      const { holder, lease_until, child, items } = event.data
      const before = {
        ...pick(facts, ['inputs_hash', 'failure']),
        ...(items === undefined ? {} : { items: { ...items, since: event.at } }),
      }
      return {
        facts: { state: 'running', holder, lease_until, ...(child === undefined ? {} : { child }), ...before },
        refused,
      }
    }
    case 'budget:reserved':
      return { facts: { ...facts, ...heldBy(facts, event) }, refused }
    case 'block:output': {
      const reserved = less(facts.reserved ?? NOTHING, amountOf([event]))
      return { facts: { ...facts, reserved, outputs: event.data.outputs, made: originOf(event.data) }, refused }
    }
    case 'block:gate': {
      const { gate, status, reason, phase } = event.data
      const holds = status === 'passed' || status === 'waived' || warns(block, gate)
      const others = refused.filter((one) => one.name !== gate || one.phase !== phase)
      return { facts, refused: holds ? others : [...others, { name: gate, line: `${gate}: ${reason}`, phase }] }
    }
    case 'block:retrying':
      return {
        facts: { ...ended(facts, 'retrying'), due_at: event.data.due_at, failure: failureOf(event, facts, refused) },
        refused,
      }
    case 'block:failed':
      return {
        facts: { ...ended(facts, 'failed'), failure: { ...failureOf(event, facts, refused), ...routed(event, block) } },
        refused,
      }
    case 'block:completed':
      return { facts: ended(facts, 'completed'), refused }
    case 'block:cancelled':
      return { facts: { ...ended(facts, 'cancelled'), failure: failureOf(event, facts, refused) }, refused }
    case 'block:skipped':
      return { facts: ended(facts, 'skipped'), refused }
    default:
      return { facts, refused }
  }
}

/** What the attempt has made and is of stays until it is answered. */
function askedAbout(facts: Found['facts'], { data }: Extract<RunEvent, { type: 'block:asked' }>): Found['facts'] {
  const { approval_id, about, inputs_ref } = data
  const asked = { approval_id, about, ...(inputs_ref === undefined ? {} : { inputs_ref }) }
  const kept = pick(facts, ['inputs_hash', 'outputs', 'made', 'items', 'child', 'failure'])
  return { ...kept, state: 'paused_approval', asked }
}

function pick<K extends keyof Found['facts']>(facts: Found['facts'], keys: readonly K[]): Partial<Found['facts']> {
  return Object.fromEntries(keys.flatMap((key) => (facts[key] === undefined ? [] : [[key, facts[key]]])))
}

/** A reservation renews the lease of who makes it; a child run holds its attempt for as long as it lives. */
function heldBy(
  { reserved = NOTHING, child, lease_until }: Found['facts'],
  { at, data }: Extract<RunEvent, { type: 'budget:reserved' }>,
): Partial<Found['facts']> {
  const lease = child === undefined ? new Date(Date.parse(at) + LEASE_MS).toISOString() : lease_until
  return { reserved: plus(reserved, data), ...(lease === undefined ? {} : { lease_until: lease }) }
}

function ended({ outputs, inputs_hash, made }: Found['facts'], state: BlockProjection['state']): Found['facts'] {
  return {
    state,
    ...(inputs_hash === undefined ? {} : { inputs_hash }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(made === undefined || state !== 'completed' ? {} : { made }),
  }
}

function failureOf(
  { data: { code, reason } }: Extract<RunEvent, { type: 'block:retrying' | 'block:failed' | 'block:cancelled' }>,
  before: Found['facts'],
  refused: Found['refused'],
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
  { asked }: Found['facts'],
  refused: Found['refused'],
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
