import type { HeadApproval } from './head.ts'
import type { ApprovalItem } from './run-store-items.ts'

type Timing = Pick<ApprovalItem, 'requested_at' | 'expires_at' | 'remind_sec' | 'escalate'>

type ToldState = Pick<HeadApproval, 'next_at' | 'escalated'>

/** What comes next before the expiry, when people are asked or told again; undefined = nothing more does. */
export function nextReminderOrEscalation(
  item: Timing,
  { escalated }: Pick<ToldState, 'escalated'>,
  after: number,
): { readonly next_at?: string } {
  const times = [nextReminder(item, after), escalated === true ? undefined : escalationOf(item)]
  const due = times.filter((time) => time !== undefined && time < Date.parse(item.expires_at)) as number[]
  return due.length === 0 ? {} : { next_at: new Date(Math.min(...due)).toISOString() }
}

/**
 * What is due of a pending approval at `now`. An escalation reminds too, so of both at one moment it comes alone; of
 * reminders that were missed one comes, and the next is ahead.
 */
export function dueReminderOrEscalation(
  item: Timing,
  { next_at, escalated }: ToldState,
  now: number,
): 'remind' | 'escalate' | undefined {
  if (next_at === undefined || Date.parse(next_at) > now || Date.parse(item.expires_at) <= now) return undefined
  const escalation = escalated === true ? undefined : escalationOf(item)
  return escalation !== undefined && escalation <= Date.parse(next_at) ? 'escalate' : 'remind'
}

function escalationOf({ requested_at, escalate }: Timing): number | undefined {
  return escalate === undefined ? undefined : Date.parse(requested_at) + escalate.after_sec * 1_000
}

/** The first one behind `after`. */
function nextReminder({ requested_at, remind_sec }: Timing, after: number): number | undefined {
  if (remind_sec === undefined) return undefined
  const [asked, every] = [Date.parse(requested_at), remind_sec * 1_000]
  return asked + (Math.max(0, Math.floor((after - asked) / every)) + 1) * every
}
