import type { Head } from './head.ts'
import type { ApprovalItem } from './run-items.ts'
import type { DamagedRun, Meta } from './run-store.ts'

/** One question to people and the run it is about, as they are now. HEAD says what became of it. */
export interface Asked {
  readonly item: ApprovalItem
  readonly meta: Meta
  readonly head: Head
  /** ISO time it was asked, or of a closed one when that was. */
  readonly at: string
}

/** A question somebody was asked, of which what is stored cannot be read. */
export interface DamagedQuestion {
  readonly run_id: string
  readonly approval_id: string
  /** APPROVAL: the question itself. */
  readonly item: DamagedRun['item'] | 'APPROVAL'
  readonly seen: string
}

export interface InboxPage {
  readonly asked: readonly Asked[]
  /** They keep nobody from the others. */
  readonly damaged?: readonly DamagedQuestion[]
  readonly next?: string
}

export interface InboxFilter {
  /** What was decided, has expired or was cancelled, newest first; false: what still is open, oldest first. */
  readonly closed: boolean
  readonly limit: number
  /** Opaque: the `next` of the page before. */
  readonly after?: string
}

/** Index 3 of the run store: what people of a tenant were asked, over all its runs. */
export interface Inbox {
  /**
   * One page, perhaps a short one; `next` where there may be more. The index is a hint: an open one may be closed by now,
   * which `shownStatus` tells of HEAD, and what HEAD does not know yet is left out; what cannot be read is named. Another
   * text than a `next` of this tenant and list: Fault InvalidInput bad_cursor.
   */
  inbox(tenant: string, filter: InboxFilter): Promise<InboxPage>
}

/** What HEAD says of one approval: a run that ended has cancelled what nobody decided. Undefined: not asked yet. */
export function shownStatus(
  { state, approvals }: Pick<Head, 'state' | 'approvals'>,
  id: string,
): Head['approvals'][string]['status'] | undefined {
  const status = Object.hasOwn(approvals, id) ? approvals[id]?.status : undefined
  return status === 'pending' && state !== 'running' ? 'cancelled' : status
}
