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
