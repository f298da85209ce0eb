import type { Block } from '../../shared/dag/dag.ts'
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
    case 'budget:reserved':
      return { facts: { ...facts, ...heldBy(facts, event) }, refused }
    case 'block:output': {
      const reserved = less(facts.reserved ?? NOTHING, amountOf([event]))
      return { facts: { ...facts, reserved, outputs: event.data.outputs, made: originOf(event.data) }, refused }
    }
    case 'block:gate': {
      const { gate, status, reason, phase } = event.data
      const holds = status === 'passed' || status === 'waived' || warns(block, gate)
      return { facts, refused: holds ? refused : [...refused, { name: gate, line: `${gate}: ${reason}`, phase }] }
    }
    case 'block:retrying':
      return {
        facts: { ...ended(facts, 'retrying'), due_at: event.data.due_at, failure: failureOf(event, facts, refused) },
        refused,
      }
    case 'block:failed':
      return { facts: { ...ended(facts, 'failed'), failure: failureOf(event, facts, refused) }, refused }
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
  if (!/_gate_(failed|refused)$/.test(code)) return { code, reason, feedback: [reason] }
  // A pre-gate that failed while its composition held is no part of what the post-gates refused.
  const mine = code === 'post_gate_failed' ? refused.filter(({ phase }) => phase === 'post') : refused
  return { code, reason, feedback: mine.map(({ line }) => line), gates: mine.map(({ name }) => name) }
}

function warns(block: Block | undefined, gate: string): boolean {
  const uses = [...(block?.pre_gates ?? []), ...(block?.post_gates ?? []), ...(block?.foreach?.item_gates ?? [])]
  return uses.some(({ name, on_fail }) => name === gate && on_fail === 'warn')
}
