import { type Block, REJECTION_GATE } from '../../shared/dag/dag.ts'
import { minus, NOTHING, plus } from '../../shared/runs/budget.ts'
import type { EventData, RunEvent, StoredValue } from '../../shared/runs/event.ts'
import { type LaneOwner, laneKey, readOrdinal } from '../../shared/runs/lane.ts'
import { NO_TRY } from '../../shared/runs/retry.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection, OutputOrigin } from '../../shared/runs/run-store-items.ts'
import { spentByEvents } from '../../shared/runs/usage-cost.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from './pinned-run.ts'

/** Of a claim, renewed while its dispatch runs. */
export const LEASE_MS = 30_000
/** Of a step: whoever does its work may have to be started first, or wait for its turn. Renewed every 10 s. */
export const STEP_LEASE_MS = 110_000

/**
 * Projections of blocks, at least as new as their lanes: a crash between the HEAD append and B# leaves the
 * projection behind, and then the events decide (they are the truth) and the projection is written again.
 */
export async function readProjections(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  lanes: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, BlockProjection>> {
  if (lanes.size === 0) return new Map()
  const found = new Map((await world.runs.projections(run, [...lanes.keys()])).map((p) => [p.block, p]))
  for (const [block, lane] of lanes) {
    const seen = found.get(block)
    if (seen !== undefined && seen.ordinal >= lane) continue
    const recovered = await recoverProjection(world, run, { block }, lane)
    await world.runs.putProjection(run, recovered)
    found.set(block, recovered)
  }
  return found
}

/** The projection of the lane a call is about, at least as new as `lane`. */
export async function readOwnProjection(call: LaneCall, lane: number): Promise<BlockProjection | undefined> {
  const { world, run, block, item } = call
  if (item === undefined) return (await readProjections(world, run, new Map([[block.index, lane]]))).get(block.index)
  return (await freshItemProjections(world, run, block.index, new Map([[item, lane]]))).get(item)
}

/** Whose lane a call is about: a block's, or one item's. */
interface LaneCall {
  readonly world: Pick<World, 'runs' | 'objects'>
  readonly run: RunKey
  readonly block: { readonly index: number }
  readonly item: number | undefined
}

/** The value of each port, parsed from its stored JSON text. */
export async function readPortValues(
  world: Pick<World, 'objects'>,
  tenant: string,
  stored: Readonly<Record<string, StoredValue>>,
): Promise<Readonly<Record<string, Json>>> {
  const values: Record<string, Json> = {}
  for (const [port, { ref }] of Object.entries(stored)) {
    values[port] = JSON.parse(Buffer.from(await world.objects.get(tenant, ref)).toString('utf8')) as Json
  }
  return values
}

/**
 * Projections of items of a foreach block, by item, at least as new as their lanes (item -> ordinal in HEAD): one that
 * is behind its lane, or on its way still, is made again from the events and written again.
 */
export async function freshItemProjections(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  block: number,
  lanes: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, BlockProjection>> {
  if (lanes.size === 0) return new Map()
  const stored = await world.runs.itemProjections(run, block, [...lanes.keys()])
  const fresh = new Map(stored.flatMap((one) => (one.item === undefined ? [] : [[one.item, one] as const])))
  for (const [item, lane] of lanes) {
    const seen = fresh.get(item)
    if (seen !== undefined && seen.ordinal >= lane) continue
    const recovered = await recoverProjection(world, run, { block, item }, lane)
    await world.runs.putProjection(run, recovered)
    fresh.set(item, recovered)
  }
  return fresh
}

const PAGE = 500

/**
 * A block's projection made again from the events of its lane's epoch, as the writer that died would have left it. Events
 * that came after HEAD was read (`lane`) belong to steps of others, whose own projections are to come.
 */
export async function recoverProjection(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  owner: LaneOwner,
  lane: number,
): Promise<BlockProjection> {
  const { dag } = await readPinned(world, run)
  const { attempt, outcome } = readOrdinal(lane)
  let found: Projected = { facts: { state: outcome ?? 'running' }, refused: [] }
  for (let since = 0; ; ) {
    const events = await world.runs.events(run, since, PAGE)
    for (const event of events) {
      if (!isOf(event, laneKey(owner), lane)) continue
      found = projectEvent(found, event, dag.blocks[owner.block])
    }
    const last = events.at(-1)
    if (last === undefined || events.length < PAGE) return { ...owner, ordinal: lane, attempt, ...found.facts }
    since = last.seq
  }
}

function isOf({ id }: RunEvent, key: string, upTo: number): boolean {
  const [lane, at] = id.split('/')
  return lane === key && Number(at) <= upTo && readOrdinal(Number(at)).epoch === readOrdinal(upTo).epoch
}

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

/** A projection while it is made again from the events of its lane. */
interface Projected {
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
    | 'wait'
  >
  /** Gates of this attempt that did not hold. */
  readonly refused: readonly { readonly name: string; readonly line: string; readonly phase: 'pre' | 'post' }[]
}

type Facts = Projected['facts']

/** The projection after this event of its lane. */
function projectEvent(before: Projected, event: RunEvent, block: Block | undefined): Projected {
  const { facts, refused } = before
  switch (event.type) {
    case 'block:started':
      return { facts: { ...begunFacts(facts, event), inputs_hash: event.data.inputs_hash }, refused: [] }
    case 'block:resumed':
      return { facts: { ...begunFacts(facts, event), ...pick(facts, ['inputs_hash']) }, refused }
    case 'block:asked':
      return { facts: askedAbout(facts, event), refused }
    case 'block:waiting':
      return { facts: { ...facts, wait: { ...event.data, since: event.at } }, refused }
    case 'block:match_failed':
      return { facts: { ...facts, ...unjudgedFacts(facts, event) }, refused }
    case 'block:woken':
      return { facts: { ...facts, ...wokenFacts(facts, event) }, refused }
    case 'budget:reserved':
      return { facts: { ...facts, ...heldBy(facts, event) }, refused }
    case 'block:output': {
      const reserved = minus(facts.reserved ?? NOTHING, spentByEvents([event]))
      return { facts: { ...facts, reserved, outputs: event.data.outputs, made: outputOrigin(event.data) }, refused }
    }
    case 'block:gate':
      return { facts, refused: refusedAfter(refused, event, block) }
    case 'step:started':
    case 'step:progress':
      return { facts: { ...facts, lease_until: stepLease(event) }, refused }
    default:
      return { facts: endedBy(before, event, block), refused }
  }
}

function begunFacts(facts: Facts, { at, data }: EventOf<'block:started' | 'block:resumed'>): Facts {
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

function unjudgedFacts({ wait }: Facts, { data }: EventOf<'block:match_failed'>): Partial<Facts> {
  return wait === undefined ? {} : { wait: { ...wait, unjudged: [...(wait.unjudged ?? []), data.event_id] } }
}

function wokenFacts({ wait }: Facts, { data }: EventOf<'block:woken'>): Partial<Facts> {
  return wait === undefined ? {} : { wait: { ...wait, came: data } }
}

/** Of a gate that was judged and then waived the last verdict counts. */
function refusedAfter(
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
        ...endedFacts(facts, 'retrying'),
        ...counted(facts, event),
        due_at,
        failure: projectedFailure(event, facts, refused),
      }
    }
    case 'block:failed': {
      const failure = { ...projectedFailure(event, facts, refused), ...routedGates(event, block) }
      return { ...endedFacts(facts, 'failed'), ...counted(facts, event), failure }
    }
    case 'block:completed':
      return { ...endedFacts(facts, 'completed'), ...pick(facts, ['untried']) }
    case 'block:cancelled':
      return { ...endedFacts(facts, 'cancelled'), failure: projectedFailure(event, facts, refused) }
    case 'block:skipped':
      return endedFacts(facts, 'skipped')
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

/** Whoever does the work of a step renews its claim with what it says of it. */
function stepLease({ at }: RunEvent): string {
  return new Date(Date.parse(at) + STEP_LEASE_MS).toISOString()
}

/** A reservation renews the lease of who makes it; a child run holds its attempt for as long as it lives. */
function heldBy(
  { reserved = NOTHING, child, lease_until }: Facts,
  { at, data }: Extract<RunEvent, { type: 'budget:reserved' }>,
): Partial<Facts> {
  const lease = child === undefined ? new Date(Date.parse(at) + LEASE_MS).toISOString() : lease_until
  return { reserved: plus(reserved, data), ...(lease === undefined ? {} : { lease_until: lease }) }
}

function endedFacts({ outputs, inputs_hash, made }: Facts, state: BlockProjection['state']): Facts {
  return {
    state,
    ...(inputs_hash === undefined ? {} : { inputs_hash }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(made === undefined || state !== 'completed' ? {} : { made }),
  }
}

function projectedFailure(
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
function routedGates(
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
  const phase = asked?.about === 'pre_gates' || asked?.about === 'call' ? 'pre' : 'post'
  const mine = asked?.about === 'budget' ? [] : refused.filter((one) => one.phase === phase)
  const gates = mine.length === 0 ? {} : { gates: mine.map(({ name }) => name) }
  return { ...told, feedback: [...mine.map(({ line }) => line), told.reason], ...gates }
}

function warns(block: Block | undefined, gate: string): boolean {
  const uses = [...(block?.pre_gates ?? []), ...(block?.post_gates ?? []), ...(block?.foreach?.item_gates ?? [])]
  return uses.some(({ name, on_fail }) => name === gate && on_fail === 'warn')
}

/** What a projection keeps of a block:output beside its values. */
export function outputOrigin(output: EventData<'block:output'>): OutputOrigin {
  const { provider, model, params_hash, prompt_hash, finish_reason, raw_ref, tainted } = output
  const raw = raw_ref === undefined ? {} : { raw_ref }
  return { provider, model, params_hash, prompt_hash, finish_reason, ...raw, ...(tainted && { tainted }) }
}
