import { useEffect, useState } from 'preact/hooks'
import { type ApiProblem, answerOf, api } from '../api.ts'
import { pendingApprovals } from '../place/place-state.ts'
import { useAnswer } from '../use-answer.ts'
import type { Approval, InboxPage } from './decision.ts'

export type InboxStatus = 'pending' | 'decided' | 'all'

export interface Inbox {
  /** Undefined until the first answer came. */
  readonly approvals: readonly Approval[] | undefined
  /** What was asked and cannot be read. */
  readonly damaged: NonNullable<InboxPage['damaged']>
  readonly problem: ApiProblem | undefined
  readonly hasMore: boolean
  loadMore(): Promise<void>
  reload(): void
}

interface More extends Pick<Inbox, 'damaged'> {
  readonly approvals: readonly Approval[]
  readonly cursor: string | null | undefined
}

const NOTHING_MORE: More = { approvals: [], damaged: [], cursor: undefined }

/** What people are or were asked; pending ones are those of the menu's badge. Kept fresh while the page is seen. */
export function useInbox(status: InboxStatus): Inbox {
  const isPending = status === 'pending'
  const asked = useAnswer(
    `inbox ${status}`,
    async () => (isPending ? undefined : await askInbox(status)),
    isPending ? undefined : 5_000,
  )
  const first = isPending ? pendingApprovals.value.value : asked.value
  const [more, setMore] = useState(NOTHING_MORE)
  useEffect(() => setMore(NOTHING_MORE), [status])
  // Pages behind the first one count from the moment they were loaded.
  const cursor = more.cursor === undefined ? (first?.next_cursor ?? null) : more.cursor
  const loadMore = async () => {
    if (cursor === null) return
    const page = await askInbox(status, cursor)
    const { approvals, damaged = [], next_cursor } = page
    setMore((old) => ({
      approvals: [...old.approvals, ...approvals],
      damaged: [...old.damaged, ...damaged],
      cursor: next_cursor,
    }))
  }
  const known = new Set(first?.approvals.map(({ approval_id }) => approval_id))
  const older = more.approvals.filter(({ approval_id }) => !known.has(approval_id))
  return {
    approvals: first === undefined ? undefined : [...first.approvals, ...older],
    damaged: [...(first?.damaged ?? []), ...more.damaged],
    problem: isPending ? pendingApprovals.problem.value : asked.problem,
    hasMore: cursor !== null,
    loadMore,
    reload: isPending ? () => void pendingApprovals.reload() : asked.reload,
  }
}

function askInbox(status: InboxStatus, cursor?: string): Promise<InboxPage> {
  const query = { status, values: 'refs', limit: 50, ...(cursor === undefined ? {} : { cursor }) } as const
  return answerOf(api.GET('/api/dag/approvals', { params: { query } }))
}
