import type { Head } from '../../shared/runs/head.ts'
import type { System } from './system.ts'

/** One change of a HEAD: `was` is what the step before had left. */
export interface HeadChange {
  readonly run_id: string
  readonly was: Head | undefined
  readonly head: Head
}

/**
 * The first of so many things `find` sees in a change of a run's HEAD, right after the step that made it: what that step's
 * writer does next, and whoever it wakes, has no turn before. Undefined: it did not come within `ms`.
 */
export function untilHead<T>(
  { lookers, sim }: System,
  run_id: string,
  ms: number,
  find: (change: HeadChange) => T | undefined,
): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<T | undefined>()
  const look = (change: HeadChange) => {
    const found = change.run_id === run_id ? find(change) : undefined
    if (found !== undefined) resolve(found)
  }
  lookers.add(look)
  const callOff = sim.scheduler.after(ms, () => resolve(undefined))
  return promise.finally(() => {
    callOff()
    lookers.delete(look)
  })
}

/** The lane of a block, or of an item of one, that moved. */
export function movedLane({ was, head }: HeadChange): { readonly block: number; readonly ordinal: number } | undefined {
  for (const [lane, ordinal] of Object.entries(head.lanes)) {
    const block = Number.parseInt(lane, 10)
    if (/^\d+(\.\d+)?$/.test(lane) && ordinal !== was?.lanes[lane]) return { block, ordinal }
  }
  return undefined
}
