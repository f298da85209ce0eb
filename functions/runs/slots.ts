import { Fault } from '../../shared/errors.ts'
import type { Head, Rest } from '../../shared/runs/head.ts'
import { slotRank } from '../../shared/runs/key-queue.ts'
import { MAX_LEASES, type Meta, type QueuedRun, type RunKey, runsPool, slotUntil } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { comeToTurn, hasTurn, leaveTurn, letBegin } from './key-turns.ts'
import { admitSuccessor } from './lineage.ts'
import { giveSlot, takeSlotAgain } from './rest.ts'

type TakingWorld = Pick<World, 'runs' | 'clock' | 'settings'>

/** When a refused start may find a slot; nobody knows how long the runs before it take. */
const RETRY_AFTER_MS = 30_000

/**
 * Takes a slot among the tenant's active runs, for a run that has no HEAD yet. Full: slots nobody holds any more are
 * dropped, once. Answers the end of the lease; undefined = it has to wait, since all are taken or others wait already:
 * without `safety.queue` that is Fault LimitExceeded too_many_runs.
 */
export async function takeSlot(world: TakingWorld, run: RunKey): Promise<string | undefined> {
  const { max_runs, queue } = world.settings.safety
  // Without `queue` too: runs that rested may want to go on.
  const isFirst = (await world.runs.queued(run.tenant, 1)).length === 0
  if (queue && !isFirst) return undefined
  const taken = isFirst ? await leaseUntil(world, run) : undefined
  if (taken !== undefined) return taken
  const again = (await dropDeadSlots(world, run.tenant)) > 0 && isFirst ? await leaseUntil(world, run) : undefined
  if (again !== undefined || queue) return again
  const active = Object.keys(await world.runs.leases(runsPool(run.tenant))).length
  const message = `Cannot start: ${active} runs are active, and the safety policy allows ${max_runs} at once (max_runs). Try again when one has ended, stop one with \`sluice run stop\`, or set safety.queue to let starts wait.`
  throw new Fault('LimitExceeded', 'too_many_runs', message, {
    facts: { active, max_runs, retry_after_ms: RETRY_AFTER_MS },
  })
}

async function leaseUntil(world: TakingWorld, { tenant, run_id }: RunKey): Promise<string | undefined> {
  const until = slotUntil(world.clock.now())
  const taken = await world.runs.takeLease(runsPool(tenant), run_id, until, world.settings.safety.max_runs)
  return taken ? until : undefined
}

type FillWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/** Queued runs looked at a time. */
const PAGE = 20

/**
 * Gives free slots to queued runs, oldest first, until there is none left; while starts are on hold only to those that
 * rested and want to go on. Safe to call at any time and by several at once: the lease is taken first, and HEAD says who
 * released the run.
 */
export async function fillSlots(world: FillWorld, tenant: string): Promise<number> {
  let released = 0
  for (;;) {
    const isHeld = (await world.runs.startHold(tenant)) !== undefined
    // Those that rested may stand behind any number of starts.
    const waiting = await world.runs.queued(tenant, isHeld ? MAX_LEASES : PAGE)
    if (waiting.length === 0) return released
    const held = await world.runs.leases(runsPool(tenant))
    // Who died between the lease and the release left the first of these; a slot must not lie idle for them.
    const order = waiting.toSorted((a, b) => Number(b.run_id in held) - Number(a.run_id in held))
    for (const one of order) {
      const isReleased = await release(world, one, isHeld)
      if (isReleased === undefined) return released
      released += Number(isReleased)
    }
    if (isHeld) return released
  }
}

function takeLease({ runs, clock, settings }: FillWorld, { tenant, run_id }: RunKey): Promise<boolean> {
  return runs.takeLease(runsPool(tenant), run_id, slotUntil(clock.now()), settings.safety.max_runs)
}

/** Whether it goes on, or starts, from here; undefined, here and below: no slot is free. */
async function release(world: FillWorld, queued: QueuedRun, isHeld: boolean): Promise<boolean | undefined> {
  const { at: _, ...run } = queued
  const head = await world.runs.head(run, [])
  if (head?.state === 'running' && head.resting !== undefined) return letGoOn(world, queued, head, head.resting)
  return isHeld ? false : letStart(world, queued)
}

async function letStart(world: FillWorld, queued: QueuedRun): Promise<boolean | undefined> {
  const { at: _, ...run } = queued
  return (await takeLease(world, run)) ? releaseQueued(world, queued) : undefined
}

/** One that rested. Its rank in the queue is when it wanted to go on: another is of an earlier rest. */
async function letGoOn(world: FillWorld, queued: QueuedRun, head: Head, rest: Rest): Promise<boolean | undefined> {
  const { at, ...run } = queued
  if (rest.wants_at !== at) {
    await world.runs.dequeue(queued)
    return false
  }
  if (!(await takeSlotAgain(world, run, rest))) return undefined
  const isGiven = await giveSlot(world, run, head)
  if (!isGiven) await leaveUnneeded(world, run)
  await world.runs.dequeue(queued)
  if (isGiven) await world.outbox.nudge(run)
  return isGiven
}

/**
 * One that lacks its turn keeps the slot until that has come: whoever comes with a slot then would have to wait for one that
 * has none.
 */
async function releaseQueued(world: FillWorld, queued: QueuedRun): Promise<boolean> {
  const { at: _, ...run } = queued
  const is = await letBegin(world, run)
  if (is === 'gone') await leaveUnneeded(world, run)
  await world.runs.dequeue(queued)
  // Its turn may have come in between, and it would be in no queue.
  const meta = is === 'waits' ? await world.runs.meta(run) : undefined
  if (hasTurn(meta)) await comeToTurn(world, meta)
  return is === 'began'
}

/** The slot taken for a run that has ended, is paused in its queue, or was never there; one that is active took it long ago, or another took it to go on. */
async function leaveUnneeded({ runs }: FillWorld, run: RunKey): Promise<void> {
  const head = await runs.head(run, [])
  const isUnneeded = head?.state !== 'running' || (head.queued === true && head.paused !== undefined)
  if (isUnneeded) await runs.dropLease(runsPool(run.tenant), run.run_id)
}

type SlotWorld = Pick<World, 'runs' | 'clock'>

/** A lease is looked at when less than this is left of its 15 minutes: each is, every five, by who sweeps each minute. */
const LEFT_MS = 600_000

/** Extends the slots of live runs, in one write, and drops those nobody holds any more; answers who had one. */
export async function keepSlots(world: SlotWorld, tenant: string): Promise<ReadonlySet<string>> {
  const { runs, clock } = world
  const pool = runsPool(tenant)
  const leases = Object.entries(await runs.leases(pool))
  const soon = new Date(clock.now() + LEFT_MS).toISOString()
  const due = leases.filter(([, until]) => until < soon).map(([run_id, until]) => ({ run: { tenant, run_id }, until }))
  const { live } = await judgeSlots(world, due)
  const holders = live.map(({ run_id }) => run_id)
  if (holders.length > 0) await runs.extendLeases(pool, holders, slotUntil(clock.now()))
  return new Set(leases.map(([run_id]) => run_id))
}

/**
 * A live run of a caller has a slot, whatever happened to it: two starts of one key, of which the one that failed gave
 * back what the other had taken, a HEAD that was written after its writer had given up, a run of an earlier version.
 * While all are taken it goes on without: nobody else is let in then either, and the next look gives it one.
 */
export async function ensureSlot(world: SlotWorld & Pick<World, 'settings'>, run: RunKey): Promise<void> {
  const { runs, clock, settings } = world
  const pool = runsPool(run.tenant)
  const meta = await runs.meta(run)
  if (meta === undefined || meta.parent !== undefined) return
  await runs.takeLease(pool, run.run_id, slotUntil(clock.now()), settings.safety.max_runs)
  if ((await runs.head(run, []))?.state !== 'running') await runs.dropLease(pool, run.run_id)
}

/** A slot, whose it is, and the end of its lease. */
interface HeldSlot {
  readonly run: RunKey
  readonly until: string
}

/** Slots one refused start looks at: each is a read of a HEAD. */
const LOOKED_AT = 25
const TOGETHER = 10

/** Drops slots of the tenant nobody holds any more, of those whose leases end first; answers how many. */
async function dropDeadSlots(world: SlotWorld, tenant: string): Promise<number> {
  const held = Object.entries(await world.runs.leases(runsPool(tenant)))
    .map(([run_id, until]): HeldSlot => ({ run: { tenant, run_id }, until }))
    .sort((a, b) => (a.until < b.until ? -1 : 1))
  return (await judgeSlots(world, held.slice(0, LOOKED_AT))).dropped
}

/**
 * Which of these slots belong to live runs. Drops those nobody holds any more: of a run that has ended (its release
 * was lost, or it took one after its end), and of one that never got a HEAD, once its lease is over (before that a start
 * is under way).
 */
async function judgeSlots(
  world: SlotWorld,
  held: readonly HeldSlot[],
): Promise<{ readonly live: readonly RunKey[]; readonly dropped: number }> {
  const live: RunKey[] = []
  let dropped = 0
  for (let i = 0; i < held.length; i += TOGETHER) {
    const judged = await Promise.all(held.slice(i, i + TOGETHER).map((slot) => judge(world, slot)))
    live.push(...judged.flatMap(({ run, verdict }) => (verdict === 'live' ? [run] : [])))
    dropped += judged.filter(({ verdict }) => verdict === 'dropped').length
  }
  return { live, dropped }
}

async function judge({ runs, clock }: SlotWorld, { run, until }: HeldSlot) {
  const head = await runs.head(run, [])
  if (head?.state === 'running' && head.resting !== undefined)
    return judgeResting({ runs, clock }, run, until, head.resting)
  if (head?.state === 'running') return { run, verdict: 'live' }
  if (head === undefined && Date.parse(until) > clock.now()) return { run, verdict: 'starting' }
  // With its end where nothing is known: a start that took it again since keeps it.
  await runs.dropLease(runsPool(run.tenant), run.run_id, ...(head === undefined ? [until] : []))
  return { run, verdict: 'dropped' }
}

/** Of a run that rests: what it held before, or was taken for it to go on and is over, since whoever took it died. */
async function judgeResting({ runs, clock }: SlotWorld, run: RunKey, until: string, { since }: Rest) {
  const isBefore = until <= slotUntil(Date.parse(since))
  if (!isBefore && Date.parse(until) > clock.now()) return { run, verdict: 'starting' } as const
  await runs.dropLease(runsPool(run.tenant), run.run_id, until)
  return { run, verdict: 'dropped' } as const
}

type LeaveWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/**
 * An ended run gives back its slot among the active ones, or the one in the queue, and its turn; who waits longest takes it. The run
 * that was made to come after it stands in the queue from now on.
 */
export async function releaseSlot(world: LeaveWorld, run: RunKey): Promise<void> {
  const { runs } = world
  const [head, meta] = await Promise.all([runs.head(run, []), runs.meta(run)])
  // A child has no slot of its own.
  if (meta?.parent === undefined) await runs.dropLease(runsPool(run.tenant), run.run_id)
  if (hasTurn(meta)) await leaveTurn(world, meta)
  else if (head?.queued === true && meta !== undefined) {
    await runs.dequeue({ ...run, at: slotRank(meta.created_at, meta.priority) })
  }
  const { wants_at } = head?.resting ?? {}
  if (wants_at !== undefined) await runs.dequeue({ ...run, at: wants_at })
  const next = head !== undefined && NAMING.has(head.state) ? await nextRun(world, run, head.seq) : undefined
  if (next !== undefined) await admitSuccessor(world, next)
  await fillSlots(world, run.tenant)
}

/** Ends that may name a run. */
const NAMING: ReadonlySet<string> = new Set(['iterated', 'partial'])

/** The end of a run is its last event. */
async function nextRun({ runs }: LeaveWorld, run: RunKey, seq: number): Promise<Meta | undefined> {
  const [end] = await runs.events(run, seq - 1, 1)
  const run_id = end?.type === 'run:iterated' || end?.type === 'run:partial' ? end.data.next_run : undefined
  return run_id === undefined ? undefined : runs.meta({ tenant: run.tenant, run_id })
}
