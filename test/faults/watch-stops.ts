import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { System } from './system.ts'

/** Ends from outside of the machine, which goes on unless it is told. */
const FROM_OUTSIDE = new Set([
  'stopped',
  'starts_on_hold',
  'parent_ended',
  'max_run_duration_exceeded',
  'stall_timeout_exceeded',
])

/**
 * 33: the execution of a run that was ended from outside is stopped, or its stop is owed, from the moment of its end. One
 * that started only afterwards finds the end by itself.
 */
export function watchStops(system: System): (key: RunKey, head: Head) => Promise<void> {
  const ran = new Map<string, boolean>()
  return async (key, head) => {
    const { sim } = system
    if (head.state !== 'cancelled' || ran.get(key.run_id) === false) return
    if (!ran.has(key.run_id))
      ran.set(key.run_id, (await isFromOutside(system, key, head.seq)) && (await runs(system, key)))
    const isOwed = head.outbox.some(({ kind }) => kind === 'stop_execution')
    if (isOwed || ran.get(key.run_id) !== true) return
    if (await runs(system, key)) sim.violate(33, `${key.run_id} was ended, and nobody owes its execution the stop`)
    ran.set(key.run_id, false)
  }
}

async function isFromOutside({ raw }: System, key: RunKey, seq: number): Promise<boolean> {
  const [end] = await raw.events(key, seq - 1, 1)
  return end?.type === 'run:cancelled' && FROM_OUTSIDE.has(end.data.code)
}

async function runs({ raw, machine }: System, key: RunKey): Promise<boolean> {
  const meta = await raw.meta(key)
  return meta !== undefined && (await machine.describe(meta.machine, key.run_id))?.status === 'RUNNING'
}
