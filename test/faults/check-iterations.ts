import type { RunEvent } from '../../shared/runs/event.ts'
import type { Logs } from './check-system.ts'
import type { System } from './system.ts'

/** Exactly one run comes after an iterated one: the one it names. After a partial one at most one: that, or a person's pivot. */
export async function checkIterations(system: System, logs: Logs): Promise<void> {
  const after = await runsAfter(system, logs)
  for (const [run_id, events] of logs) {
    const named = namedBy(events.at(-1))
    const found = (after.get(run_id) ?? []).join()
    const isFree = named === '' && events.at(-1)?.type === 'run:partial' && !found.includes(',')
    if (found !== named && !isFree) {
      system.sim.violate('iterations', `${run_id} names ${named || 'no run'}, after it comes ${found || 'none'}`)
    }
  }
}

function namedBy(end: RunEvent | undefined): string {
  return (end?.type === 'run:iterated' || end?.type === 'run:partial' ? end.data.next_run : undefined) ?? ''
}

const ASLEEP: ReadonlySet<string> = new Set(['not_iterated', 'not_pivoted'])

/** By the run they come after; one that never came to it was cancelled in its sleep. */
async function runsAfter({ raw, runs }: System, logs: Logs): Promise<ReadonlyMap<string, readonly string[]>> {
  const after = new Map<string, string[]>()
  for (const [run_id, key] of runs) {
    const { iterates, pivots } = (await raw.meta(key)) ?? {}
    const before = (iterates ?? pivots)?.run_id
    const end = logs.get(run_id)?.at(-1)
    const isAsleep = end?.type === 'run:cancelled' && ASLEEP.has(end.data.code)
    if (before !== undefined && end !== undefined && !isAsleep)
      after.set(before, [...(after.get(before) ?? []), run_id])
  }
  return after
}
