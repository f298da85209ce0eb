import type { RunEvent } from '../../shared/runs/event.ts'
import { type Head, isPaused, openWaits, type Rest } from '../../shared/runs/head.ts'
import { laneOwner } from '../../shared/runs/lane.ts'
import { canRest, LEAST_REST_MS } from '../../shared/runs/rest.ts'
import { type Append, type RestChange, type RunKey, runsPool, slotUntil } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import type { Pinned } from '../record/pinned-run.ts'

type RestWorld = Pick<World, 'runs' | 'outbox' | 'clock'>

/** A run and the document it is pinned to. */
interface RestingRun extends Pinned {
  readonly run: RunKey
}

/**
 * What the append carries that leaves nothing of its run to go on: `after` is HEAD as it will be then, with every lane.
 * Nothing, where something else goes on, or the run is a child: it holds no slot, and its parent works as long as it does.
 */
export function restFrom(pinned: Pinned, after: Head, at: string): Pick<Append, 'rest'> {
  if (pinned.meta.parent !== undefined || !canRest(pinned, after)) return {}
  return { rest: { was: null, set: { since: at } } }
}

/**
 * Lets a run rest in which nothing can go on by itself, and none of its waits is over soon, and gives its slot away.
 * Whoever finds that it rests already, or works, changes nothing.
 */
export async function restIfIdle(world: RestWorld, resting: RestingRun): Promise<void> {
  const { run, meta } = resting
  if (meta.parent !== undefined) return
  const head = await world.runs.head(run)
  if (head === undefined || !canRest(resting, head)) return
  const isPausedNow = head.paused !== undefined
  if (!isPausedNow && (await firstWaitOver(world, run, head)) < world.clock.now() + LEAST_REST_MS) return
  const since = new Date(world.clock.now()).toISOString()
  if (await world.runs.moveRest(run, { was: null, set: { since } })) await leaveSlot(world, run, since)
}

/** When the first of its open waits is over, milliseconds since 1970. */
async function firstWaitOver(world: RestWorld, run: RunKey, head: Head): Promise<number> {
  const owners = openWaits(head).flatMap((lane) => laneOwner(lane) ?? [])
  if (owners.length === 0) return Number.POSITIVE_INFINITY
  const whole = owners.flatMap(({ block, item }) => (item === undefined ? [block] : []))
  const known = [...(whole.length === 0 ? [] : await world.runs.projections(run, whole))]
  const fanned = Map.groupBy(
    owners.flatMap(({ block, item }) => (item === undefined ? [] : [{ block, item }])),
    ({ block }) => block,
  )
  for (const [block, items] of fanned) {
    known.push(
      ...(await world.runs.itemProjections(
        run,
        block,
        items.map(({ item }) => item),
      )),
    )
  }
  // One whose projection is not there yet may be over at any time.
  const untils = known.map(({ wait }) => (wait === undefined ? 0 : Date.parse(wait.until)))
  return known.length < owners.length ? 0 : Math.min(...untils)
}

/**
 * The slot of a run that rests since then, once HEAD says so: a lease that was taken to go on ends later and stays. The
 * first in the queue, if somebody waits, is nudged: send-outbox fills the slot.
 */
export async function leaveSlot({ runs, outbox }: RestWorld, run: RunKey, since: string): Promise<void> {
  await runs.dropLease(runsPool(run.tenant), run.run_id, slotUntil(Date.parse(since)))
  const [next] = await runs.queued(run.tenant, 1)
  if (next !== undefined) await outbox.nudge({ tenant: next.tenant, run_id: next.run_id })
}

type TakeWorld = Pick<World, 'runs' | 'clock' | 'settings'>

/**
 * What the append carries that lets a run go on after everything waited: the deadline moved by that time, and where the run
 * rests, the end of that. Its slot is taken before; where none is free, or others wait for one, the run wants one since
 * then, and whoever gives it one lets it go on. `head` with every lane.
 */
export async function goOn(
  world: TakeWorld,
  run: RunKey,
  head: Head,
  now: number,
): Promise<Pick<Append, 'deadline_at' | 'rest'>> {
  const { resting } = head
  // Whoever lets a paused run go on gives back all that it stood.
  if (head.paused !== undefined) return {}
  // What it waits for its slot, that comes after the pause, moves the deadline when it has one.
  if (resting?.wants_at !== undefined) return {}
  const deadline = await deadlineAfterPause(world, run, head, now)
  return resting === undefined ? deadline : { ...deadline, rest: await endOfRest(world, run, resting, now) }
}

const PAGE = 50

/**
 * The run's deadline stands still while everything waits: the decision, the expiry or the wake that ends the pause gives
 * it back in its own update (docs/architecture.md, "Questions to people"). `head` with every lane, as read before that
 * update.
 */
async function deadlineAfterPause(
  world: Pick<World, 'runs'>,
  run: RunKey,
  head: Head,
  now: number,
): Promise<{ readonly deadline_at?: string }> {
  if (!isPaused(head)) return {}
  const since = await standsSince(world, run, head.seq)
  const paused = since === undefined ? 0 : Math.max(0, now - Date.parse(since))
  return { deadline_at: new Date(Date.parse(head.deadline_at) + paused).toISOString() }
}

/** When the run began to stand: the newest event before which something still went on by itself. */
export async function standsSince(
  { runs }: Pick<World, 'runs'>,
  run: RunKey,
  seq: number,
): Promise<string | undefined> {
  for (let end = seq; end > 0; end -= PAGE) {
    const start = Math.max(0, end - PAGE)
    const last = (await runs.events(run, start, end - start)).findLast((event) => !isOfPause(event))
    if (last !== undefined) return last.at
  }
  return undefined
}

/** A context that is changed, a reminder or a vote that is not the last does not end a pause. */
function isOfPause({ type, data }: RunEvent): boolean {
  if (type === 'approval:decided') return data.decision !== 'reject' && data.have < data.need
  return OF_PAUSE.has(type)
}

const OF_PAUSE: ReadonlySet<string> = new Set([
  'context:patched',
  'approval:reminded',
  'approval:escalated',
  'block:match_failed',
])

/** How a rest ends now: with a slot, or wanting one from now on. */
export async function endOfRest(world: TakeWorld, run: RunKey, was: Rest, now: number): Promise<RestChange> {
  const isTaken = (await world.runs.queued(run.tenant, 1)).length === 0 && (await takeSlotAgain(world, run, was))
  return { was, set: isTaken ? null : { since: was.since, wants_at: new Date(now).toISOString() } }
}

/** The lease ends later than any of before the rest: whoever still has to drop that one leaves this. */
export function takeSlotAgain(
  { runs, clock, settings }: TakeWorld,
  { tenant, run_id }: RunKey,
  { since }: Rest,
): Promise<boolean> {
  const until = slotUntil(Math.max(clock.now(), Date.parse(since) + 1))
  return runs.takeLease(runsPool(tenant), run_id, until, settings.safety.max_runs)
}

/**
 * A block of a run that rests is called all the same: its question or its wait ran out, or it was called when the run began
 * to rest. The run takes a slot, or wants one from now on: then the answer is since when (milliseconds since 1970).
 */
export async function endRestOf(
  world: TakeWorld & Pick<World, 'outbox'>,
  run: RunKey,
  head: Pick<Head, 'state' | 'resting'>,
): Promise<number | undefined> {
  let seen: typeof head | undefined = head
  for (let round = 0; round < ROUNDS; round += 1) {
    const { state, resting }: Partial<typeof head> = seen ?? {}
    if (state !== 'running' || resting === undefined) return undefined
    if (resting.wants_at !== undefined) return Date.parse(resting.wants_at)
    const now = world.clock.now()
    const change = await endOfRest(world, run, resting, now)
    if (await world.runs.moveRest(run, change)) {
      if (change.set === null) return undefined
      await world.outbox.nudge(run)
      return now
    }
    // Another block of it was faster: where that left the run is where this one goes on.
    seen = await world.runs.head(run, [])
  }
  return world.clock.now()
}

/** So often somebody else may be faster, before the block comes back later. */
const ROUNDS = 4

/** Gives a run that wants a slot the one it has just taken: its deadline stood still meanwhile. false: it wants none any more. */
export async function giveSlot(world: RestWorld, run: RunKey, head: Head): Promise<boolean> {
  const { resting, deadline_at } = head
  if (head.state !== 'running' || resting?.wants_at === undefined) return false
  const waited = Math.max(0, world.clock.now() - Date.parse(resting.wants_at))
  const moved = new Date(Date.parse(deadline_at) + waited).toISOString()
  return world.runs.moveRest(run, { was: resting, set: null }, moved)
}
