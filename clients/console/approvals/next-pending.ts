import type { Approval } from './decision.ts'

/** The one to decide after this one: below it, else above it; undefined = nothing is left. */
export function nextPending(pending: readonly Pick<Approval, 'approval_id'>[], decided: string): string | undefined {
  const at = pending.findIndex(({ approval_id }) => approval_id === decided)
  const next = pending[at + 1] ?? (at > 0 ? pending[at - 1] : pending.find((one) => one.approval_id !== decided))
  return next?.approval_id
}
