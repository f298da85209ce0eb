import type { RunEvent } from '../../shared/runs/event.ts'
import type { Logs } from './check-system.ts'
import type { System } from './system.ts'

/** Exactly one run comes after an iterated one: the one it names. After a partial one at most one: that, or a person's pivot. */
export async function checkIterations(system: System, logs: Logs): Promise<void> {
  const after = await runsAfter(system, logs)
  for (const [run_id, events] of logs) {
    const end = events.at(-1)
    const named = namedBy(end)
    const all = after.get(run_id) ?? []
    const found = all.filter(({ isStoppedAtOnce, run_id: id }) => !isStoppedAtOnce || id === named)
    const ids = found.map(({ run_id: id }) => id).join()
    const isFree = named === '' && end?.type === 'run:partial' && found.length <= 1
    if (ids !== named && !isFree) {
      system.sim.violate('iterations', `${run_id} names ${named || 'no run'}, after it comes ${ids || 'none'}`)
    }
  }
}

function namedBy(end: RunEvent | undefined): string {
  return (end?.type === 'run:iterated' || end?.type === 'run:partial' ? end.data.next_run : undefined) ?? ''
}

const ASLEEP: ReadonlySet<string> = new Set(['not_iterated', 'not_pivoted'])

interface Successor {
  readonly run_id: string
  /** Somebody stopped it before it did anything: it may have slept until then, and then nobody names it. */
  readonly isStoppedAtOnce: boolean
}

/** By the run they come after; one that never came to it was cancelled in its sleep. */
async function runsAfter({ raw, runs }: System, logs: Logs): Promise<ReadonlyMap<string, readonly Successor[]>> {
  const after = new Map<string, Successor[]>()
  for (const [run_id, key] of runs) {
    const { iterates, pivots } = (await raw.meta(key)) ?? {}
    const before = (iterates ?? pivots)?.run_id
    const events = logs.get(run_id)
    const end = events?.at(-1)
    if (before === undefined || end === undefined) continue
    const code = end.type === 'run:cancelled' ? end.data.code : ''
    if (ASLEEP.has(code)) continue
    const isStoppedAtOnce = code === 'stopped' && events?.length === 2
    after.set(before, [...(after.get(before) ?? []), { run_id, isStoppedAtOnce }])
  }
  return after
}
