import { isRunEnd } from '../../shared/runs/event-types.ts'
import { type Head, type OutboxEntry, openWaits } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { People } from './people.ts'
import { MOST_WAIT_MS } from './plan-waits.ts'
import type { System } from './system.ts'

const SWEEP_MS = 60_000
const GRACE_MS = 60_000

/**
 * Whether everything has come to its end: runs, what they owe, functions, people. Tells what is late: 32 (a run is over
 * or waits for a person within its deadline and two sweeps), 16 (nothing is owed after two sweeps of calm).
 */
export async function isAtRest(system: System, people: People, skew_ms: number): Promise<boolean> {
  const { heads, runs, functions } = system
  let rests = functions.underWay.size === 0 && people.busy() === 0
  for (const key of runs.values()) {
    const head = heads.get(key.run_id)
    if (head === undefined) continue
    rests &&= head.state !== 'running' && head.outbox.length === 0 && head.check_at === undefined
    await tellLate(system, key, head, skew_ms)
    rests = (await hasStopped(system, key, head, skew_ms)) && rests
  }
  for (const tenant of new Set([...runs.values()].map((key) => key.tenant))) {
    rests = (await haveLeft(system, tenant, skew_ms)) && rests
  }
  return rests
}

/** 33: its machine too, once the run is over; one whose last call was lost waits for it a quarter of an hour, and calls again. */
async function hasStopped({ raw, machine, sim }: System, key: RunKey, head: Head, skew_ms: number): Promise<boolean> {
  if (head.state === 'running') return false
  const meta = await raw.meta(key)
  const execution = meta && (await machine.describe(meta.machine, key.run_id))
  if (execution?.status !== 'RUNNING') return true
  const since = Math.max(sim.calm_at, await endedAt(raw, key, head))
  if (sim.scheduler.now() > since + 2 * skew_ms + 6 * CALL_MS)
    sim.violate(33, `${key.run_id}: its execution does not end`)
  return false
}

const CALL_MS = 1_000_000

async function endedAt(raw: System['raw'], key: RunKey, head: Head): Promise<number> {
  const [end] = await raw.events(key, head.seq - 1, 1)
  return Date.parse(end?.at ?? '')
}

/**
 * 19: no lease outlives its run by a minute (and the sweep that finds it, five minutes after it was taken: somebody slow
 * may have taken it for a run that had ended meanwhile). One whose run never came, or that a copy of a
 * request brought back when its run had left, may last to its end: nobody looks at a tenant without live runs. After that
 * it holds no slot, and who wants one takes it away.
 */
async function haveLeft({ raw, sim, heads }: System, tenant: string, skew_ms: number): Promise<boolean> {
  const leases = Object.entries(await raw.leases({ tenant, name: 'runs' }))
  let held = 0
  for (const [run_id, until] of leases) {
    const { seq = 1 } = heads.get(run_id) ?? {}
    const [end] = await raw.events({ tenant, run_id }, seq - 1, 1)
    if (Date.parse(until) < sim.scheduler.now()) continue
    held += 1
    const over = end === undefined ? Date.parse(until) : Math.max(Date.parse(end.at), Date.parse(until) - LOOKED_AT_MS)
    const isLive = end !== undefined && !isRunEnd(end.type) && !isOfBeforeRest(heads.get(run_id), until)
    const late = sim.scheduler.now() - Math.max(sim.calm_at, over) - GRACE_MS - 3 * SWEEP_MS - 2 * skew_ms
    if (!isLive && late > 0) sim.violate(19, `${run_id} holds a lease until ${until}, ${end?.type ?? 'without a run'}`)
  }
  return held === 0
}

/** A lease that was taken to go on ends later, and lasts to its end if whoever took it died. */
function isOfBeforeRest(head: Head | undefined, until: string): boolean {
  const since = head?.resting?.since
  return since !== undefined && Date.parse(until) <= Date.parse(since) + LEASE_MS
}

/** As long as a lease of a run lasts (shared/runs/run-store.ts). */
const LEASE_MS = 900_000

/** What is left of a lease when sweeps begin to look at it (functions/runs/slots.ts). */
const LOOKED_AT_MS = 600_000

async function tellLate({ sim, raw }: System, key: RunKey, head: Head, skew_ms: number): Promise<void> {
  const { run_id } = key
  const overdue = sim.scheduler.now() - 3 * SWEEP_MS - 2 * skew_ms
  if (head.state === 'running') {
    // Its deadline begins with its slot among the active runs.
    if (head.queued === true || head.resting?.wants_at !== undefined) return
    if (overdue > dueOf(head, sim.calm_at)) sim.violate(32, `${run_id} does not end: ${wordsOf(head)}`)
    return
  }
  const ended = await endedAt(raw, key, head)
  const late = head.outbox.filter((entry) => overdue > Math.max(sim.calm_at, owedFrom(entry, ended)) + GRACE_MS)
  const { check_at } = head
  const isWatched = check_at !== undefined && overdue > Math.max(sim.calm_at, Date.parse(check_at)) + GRACE_MS
  // A child may be opened, and end, when its deadline is long over.
  if (isWatched && overdue > ended + GRACE_MS)
    sim.violate(16, `${run_id} has ended, and is still to be looked at: ${wordsOf(head)}`)
  if (late.length > 0) sim.violate(16, `${run_id} still owes ${late.map(({ id }) => id).join(', ')}`)
}

/** An endpoint is told of the end too, and not before its pause is over. */
function owedFrom(entry: OutboxEntry, ended: number): number {
  if (entry.kind !== 'endpoint') return Date.parse(entry.at)
  return Math.max(ended, Date.parse(entry.due_at ?? entry.at))
}

const MOST_WAITS = 6

function dueOf(head: Head, calm: number): number {
  const asked = Object.values(head.approvals).filter(({ status }) => status === 'pending')
  // The deadline stands still while everything waits: as long as its waits may take, one after another and tried again.
  const waits = openWaits(head).length === 0 ? 0 : MOST_WAITS * MOST_WAIT_MS
  const deadline = Math.max(calm, Date.parse(head.deadline_at)) + waits
  return Math.max(deadline, ...asked.map(({ expires_at }) => Date.parse(expires_at)))
}

function wordsOf({ state, deadline_at, check_at, outbox, running }: Head): string {
  return JSON.stringify({ state, deadline_at, check_at, outbox: outbox.map(({ id }) => id), running })
}
