import { useRef, useState } from 'preact/hooks'
import { DamagedNotice, Empty, ProblemNotice } from '../parts/notice.tsx'
import { pendingApprovals } from '../place/place-state.ts'
import { changeQuery, route } from '../route.ts'
import { ApprovalDetail } from './approval-detail.tsx'
import { ApprovalList } from './approval-list.tsx'
import { nextPending } from './next-pending.ts'
import { type Inbox, type InboxStatus, useInbox } from './use-inbox.ts'
import './approvals.css'

const STATUSES: readonly { readonly name: InboxStatus; readonly label: string }[] = [
  { name: 'pending', label: 'Pending' },
  { name: 'decided', label: 'Decided' },
  { name: 'all', label: 'All' },
]

/** What people are asked: the list, and beside it one question with exactly what it shows. */
export function ApprovalsView() {
  const { query } = route.value
  const status = STATUSES.find(({ name }) => name === query.status)?.name ?? 'pending'
  const inbox = useInbox(status)
  const list = useRef<HTMLOListElement>(null)
  const [said, setSaid] = useState('')
  const chosen = query.approval ?? inbox.approvals?.[0]?.approval_id
  const decided = (id: string, words: string) => {
    const next = nextPending(inbox.approvals ?? [], id)
    setSaid(words)
    void pendingApprovals.reload()
    inbox.reload()
    if (status === 'pending' && next !== undefined) goTo(next, list.current)
    // It stays, with its outcome.
    else changeQuery({ approval: id })
  }
  return (
    <section class="page stack">
      <div class="title-row">
        <h1>Approvals</h1>
        <StatusChoice status={status} />
      </div>
      <p role="status" class={said === '' ? 'visually-hidden' : 'said tone-good'}>
        {said}
      </p>
      {inbox.problem !== undefined && <ProblemNotice problem={inbox.problem} retry={inbox.reload} />}
      <DamagedNotice damaged={inbox.damaged} />
      {inbox.approvals?.length === 0 && inbox.damaged.length === 0 && (
        <NothingAsked status={status} problem={inbox.problem} />
      )}
      <div class={query.approval === undefined ? 'inbox' : 'inbox has-choice'}>
        {inbox.approvals !== undefined && inbox.approvals.length > 0 && (
          <div class="inbox-list">
            <ApprovalList listRef={list} approvals={inbox.approvals} chosen={chosen} />
            {inbox.hasMore && (
              <button type="button" onClick={() => void inbox.loadMore()}>
                More
              </button>
            )}
          </div>
        )}
        {chosen !== undefined && <ApprovalDetail key={chosen} id={chosen} onDecided={decided} />}
      </div>
    </section>
  )
}

/** The focus goes to the next one in the list: the button that had it is gone. */
function goTo(id: string, list: HTMLElement | null): void {
  changeQuery({ approval: id })
  setTimeout(() => list?.querySelector<HTMLElement>(`[data-approval="${id}"]`)?.focus(), 50)
}

function StatusChoice({ status }: { readonly status: InboxStatus }) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Which approvals</legend>
      {STATUSES.map(({ name, label }) => (
        <label key={name}>
          <input
            type="radio"
            name="approval-status"
            checked={name === status}
            onChange={() => changeQuery({ status: name === 'pending' ? undefined : name, approval: undefined })}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

function NothingAsked({ status, problem }: Pick<Inbox, 'problem'> & { readonly status: InboxStatus }) {
  if (status !== 'pending')
    return <Empty problem={problem}>Nobody was asked anything yet. Decisions stay here with who and when.</Empty>
  return (
    <Empty problem={problem}>
      Nobody is asked anything. A block with <code>approval: true</code> waits here before it begins, and shows what it
      is about to work with.
    </Empty>
  )
}
