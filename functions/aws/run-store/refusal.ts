import { Fault } from '../../../shared/errors.ts'
import type { Append, Appended, Head, LaneGuard } from '../../../shared/runs/run-store.ts'

type Because = Extract<Appended, { readonly ok: false }>['because']

/** Why this HEAD refuses the append, in the port's order; undefined when it would take it, were the tail not full. */
export function refusalOf(head: Head, { lane, guard, approval, start }: Append): Because | undefined {
  if (head.state !== 'running') return 'terminal'
  if (!admits(guard, head.lanes[lane])) return 'already'
  if (approval !== undefined && (head.approvals[approval.id]?.status ?? null) !== approval.was) return 'approval'
  if (start !== undefined && start.limit > 0 && head.running.length >= start.limit) return 'full'
  return undefined
}

function admits(guard: LaneGuard, ordinal: number | undefined): boolean {
  if ('is' in guard) return (ordinal ?? null) === guard.is
  return ordinal === undefined || ordinal < guard.below
}

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
