import './approvals.css'
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiProblem, answerOf, api } from '../api.ts'
import { useKeys } from '../parts/keyboard-shortcuts.tsx'
import { DamagedNotice, Empty, ProblemNotice } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { Ago } from '../parts/time-view.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { pendingApprovals } from '../place-state.ts'
import { changeQuery, hrefOf, route } from '../route.ts'
import { type Approval, type InboxPage, nextPending } from './decision.ts'
import { DecideButtons } from './decision-dialog.tsx'
import { AskedFacts, AskedHeading, DecidedWords, RiskMark, ShownValues } from './question.tsx'

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
  // The first one is shown until the reader chooses: what is decided elsewhere does not put another in its place.
  const first = useRef<{ readonly status: InboxStatus; readonly id: string | undefined }>(undefined)
  if (first.current?.status !== status || first.current.id === undefined)
    first.current = { status, id: inbox.approvals?.[0]?.approval_id }
  const chosen = query.approval ?? first.current.id
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

interface ListProps {
  readonly listRef: RefObject<HTMLOListElement | null>
  readonly approvals: readonly Approval[]
  readonly chosen: string | undefined
}

/** Questions, longest waiting first; the arrows move over them, Enter opens one. */
function ApprovalList({ listRef, approvals, chosen }: ListProps) {
  const move = (step: number) => moveFocus(listRef.current, step)
  useKeys(
    { key: 'j', label: 'Next approval', run: () => move(1) },
    { key: 'k', label: 'Previous approval', run: () => move(-1) },
  )
  const arrows = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    move(step)
  }
  return (
    <ol ref={listRef} class="asked" onKeyDown={arrows} aria-label="Approvals">
      {approvals.map((approval) => (
        <li key={approval.approval_id}>
          <a
            data-approval={approval.approval_id}
            href={hrefOf(['approvals'], { status: route.value.query.status, approval: approval.approval_id })}
            aria-current={approval.approval_id === chosen}
          >
            <span class="asked-what">
              <strong>{approval.block_id}</strong> <span class="soft">{approval.dag_name}</span>
            </span>
            <span class="soft small asked-age">
              <Ago at={approval.requested_at} />
            </span>
            <span class="asked-prompt">{approval.prompt || ABOUT[approval.about]}</span>
            <span class="asked-marks small">
              {approval.status === 'pending' ? (
                <>
                  {approval.changes !== undefined && <strong class="tone-warn">not as deployed</strong>}
                  <RiskMark level={approval.risk.level} />
                  <span class="soft">
                    expires <Ago at={approval.expires_at} />
                  </span>
                </>
              ) : (
                <StateMark state={approval.status} />
              )}
            </span>
          </a>
        </li>
      ))}
    </ol>
  )
}

const ABOUT: Readonly<Record<Approval['about'], string>> = {
  dispatch: 'May it begin?',
  pre_gates: 'Waive the gates that failed before its work?',
  post_gates: 'Waive the gates that failed after its work?',
  budget: 'Raise the budget of the run?',
  lost_step: 'Make the step again that was lost in the middle of its work?',
  call: 'Let the agent call this tool?',
}

/** From elsewhere to the chosen one; at the ends it stays. */
function moveFocus(list: HTMLElement | null, step: number): void {
  const items = [...(list?.querySelectorAll<HTMLElement>('a') ?? [])]
  const at = items.findIndex((item) => item.matches(':focus'))
  const chosen = items.find((item) => item.getAttribute('aria-current') === 'true')
  const next = at < 0 ? (chosen ?? items[0]) : items[at + step]
  next?.focus()
}

type InboxStatus = 'pending' | 'decided' | 'all'

interface Inbox {
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
function useInbox(status: InboxStatus): Inbox {
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

interface DetailProps {
  readonly id: string
  /** `words`: what was done, for people. */
  readonly onDecided: (id: string, words: string) => void
}

/** One question: what a yes allows, exactly what is shown, and the decision. */
function ApprovalDetail({ id, onDecided }: DetailProps) {
  const { value, problem, reload } = useAnswer(`approval ${id}`, () => askApproval(id), 5_000)
  const approval = value?.approvals[0]
  if (approval === undefined) {
    return (
      <article class="card stack asked-detail">
        {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
        {problem === undefined && (
          <p class="empty">{value === undefined ? 'Asking for what is shown.' : `No approval has the id ${id}.`}</p>
        )}
      </article>
    )
  }
  return (
    <article class="card stack asked-detail">
      <button type="button" class="back" onClick={() => changeQuery({ approval: undefined })}>
        ← All approvals
      </button>
      <AskedHeading approval={approval} />
      <DecideButtons approval={approval} onDecided={onDecided} reload={reload} />
      {approval.status !== 'pending' && <DecidedWords approval={approval} />}
      <ShownValues approval={approval} />
      <AskedFacts approval={approval} />
    </article>
  )
}

function askApproval(approval_id: string) {
  return answerOf(api.GET('/api/dag/approvals', { params: { query: { approval_id, status: 'all' } } }))
}
