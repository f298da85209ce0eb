import { Fault } from '../errors.ts'
import type { Append } from './run-store.ts'

/** A lane that could go back would give two events one id; running is one set, so one append moves it one way. */
export function requireForward({ lane, ordinal, guard, start, end }: Append): void {
  const open = 'is' in guard ? (guard.is ?? -1) >= ordinal : guard.below > ordinal
  if (open) {
    const message = `Cannot append to lane "${lane}": its guard ${JSON.stringify(guard)} would let the lane go back to ${ordinal}. A guard admits only smaller ordinals.`
    throw new Fault('Bug', 'append_backwards', message)
  }
  if (start === undefined || end === undefined) return
  const message = `Cannot append to lane "${lane}": it starts block ${start.block} and ends block ${end.block}; an append does one of the two.`
  throw new Fault('Bug', 'append_start_and_end', message)
}
