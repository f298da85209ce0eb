import type { Head } from '../../shared/runs/head.ts'
import type { People } from './people.ts'
import type { System } from './system.ts'

const SWEEP_MS = 60_000
const GRACE_MS = 60_000

/**
 * Whether everything has come to its end: runs, what they owe, functions, people. Tells what is late: 32 (a run is over
 * or waits for a person within its deadline and two sweeps), 16 (nothing is owed after two sweeps of calm).
 */
export async function isAtRest(system: System, people: People, skew_ms: number): Promise<boolean> {
  const { raw, runs, functions } = system
  let rests = functions.underWay.size === 0 && people.busy() === 0
  for (const key of runs.values()) {
    const head = await raw.head(key, [])
    if (head === undefined) continue
    rests &&= head.state !== 'running' && head.outbox.length === 0
    tellLate(system, key.run_id, head, skew_ms)
  }
  return rests
}

function tellLate({ sim }: System, run_id: string, head: Head, skew_ms: number): void {
  const overdue = sim.scheduler.now() - 3 * SWEEP_MS - 2 * skew_ms
  if (head.state === 'running') {
    if (overdue > dueOf(head, sim.calm_at)) sim.violate(32, `${run_id} does not end: ${wordsOf(head)}`)
    return
  }
  const late = head.outbox.filter(({ at }) => overdue > Math.max(sim.calm_at, Date.parse(at)) + GRACE_MS)
  if (late.length > 0) sim.violate(16, `${run_id} still owes ${late.map(({ id }) => id).join(', ')}`)
}

function dueOf(head: Head, calm: number): number {
  const asked = Object.values(head.approvals).filter(({ status }) => status === 'pending')
  return Math.max(calm, Date.parse(head.deadline_at), ...asked.map(({ expires_at }) => Date.parse(expires_at)))
}

function wordsOf({ state, deadline_at, check_at, outbox, running }: Head): string {
  return JSON.stringify({ state, deadline_at, check_at, outbox: outbox.map(({ id }) => id), running })
}
