import type { Head, OutboxEntry } from './head.ts'

/** How long an outbox entry may lie before the sweeper performs it. */
export const OUTBOX_GRACE_MS = 60_000
const RECONCILE_MS = 300_000

/**
 * When the sweeper must look at a run next: min(deadline, next reminder, escalation or expiry of an approval, oldest
 * unsent outbox entry + 60 s, a look at the execution each 5 minutes, the next stall check); undefined when it is terminal
 * and owes nothing. The deadline of a queued run has not begun.
 */
export function nextCheck(
  head: Pick<Head, 'state' | 'deadline_at' | 'approvals' | 'outbox' | 'queued'>,
  now: number,
  stallAt?: number,
): string | undefined {
  const times = head.outbox.flatMap((entry) => sendingTimes(entry, head.state))
  if (head.state === 'running') {
    times.push(now + RECONCILE_MS)
    if (head.queued !== true) times.push(Math.max(Date.parse(head.deadline_at), now + 1_000))
    if (stallAt !== undefined) times.push(stallAt)
    for (const approval of Object.values(head.approvals)) {
      if (approval.status === 'pending') times.push(Date.parse(nextOf(approval)))
    }
  }
  return times.length === 0 ? undefined : new Date(Math.min(...times)).toISOString()
}

/** What an endpoint is owed of a run that lives, whoever wrote its event has asked for in time; or it is tried again then. */
function sendingTimes(entry: OutboxEntry, state: Head['state']): readonly number[] {
  if (entry.kind === 'endpoint' && entry.due_at !== undefined) return [Date.parse(entry.due_at)]
  return entry.kind === 'endpoint' && state === 'running' ? [] : [Date.parse(entry.at) + OUTBOX_GRACE_MS]
}

/** A reminder, an escalation or the expiry, whichever comes first. */
function nextOf({ next_at, expires_at }: Head['approvals'][string]): string {
  return earlier(next_at, expires_at)
}

/** The earlier of two ISO times; writers may only move check_at earlier. */
export function earlier(a: string | undefined, b: string): string {
  return a !== undefined && a < b ? a : b
}
