import type { Logs } from './check-system.ts'
import type { System } from './system.ts'

/** Exactly one run takes the place of an iterated one: the one it names. */
export async function checkIterations(system: System, logs: Logs): Promise<void> {
  const after = await runsAfter(system, logs)
  for (const [run_id, events] of logs) {
    const end = events.at(-1)
    const named = (end?.type === 'run:iterated' ? end.data.next_run : undefined) ?? ''
    const found = (after.get(run_id) ?? []).join()
    if (found !== named) {
      system.sim.violate('iterations', `${run_id} names ${named || 'no run'}, in its place is ${found || 'none'}`)
    }
  }
}

/** By the run whose place they take; one that never came to it was cancelled in its sleep. */
async function runsAfter({ raw, runs }: System, logs: Logs): Promise<ReadonlyMap<string, readonly string[]>> {
  const after = new Map<string, string[]>()
  for (const [run_id, key] of runs) {
    const before = (await raw.meta(key))?.iterates?.run_id
    const end = logs.get(run_id)?.at(-1)
    const isAsleep = end?.type === 'run:cancelled' && end.data.code === 'not_iterated'
    if (before !== undefined && !isAsleep) after.set(before, [...(after.get(before) ?? []), run_id])
  }
  return after
}
