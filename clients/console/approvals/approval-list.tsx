import type { RefObject } from 'preact'
import { Ago } from '../parts/moment.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { useKeys } from '../place/keys.ts'
import { hrefOf, route } from '../route.ts'
import type { Approval } from './decision.ts'
import { RiskMark } from './risk-mark.tsx'

interface ListProps {
  readonly listRef: RefObject<HTMLOListElement | null>
  readonly approvals: readonly Approval[]
  readonly chosen: string | undefined
}

/** Questions, longest waiting first; the arrows move over them, Enter opens one. */
export function ApprovalList({ listRef, approvals, chosen }: ListProps) {
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
}

/** From elsewhere to the chosen one; at the ends it stays. */
function moveFocus(list: HTMLElement | null, step: number): void {
  const items = [...(list?.querySelectorAll<HTMLElement>('a') ?? [])]
  const at = items.findIndex((item) => item.matches(':focus'))
  const chosen = items.find((item) => item.getAttribute('aria-current') === 'true')
  const next = at < 0 ? (chosen ?? items[0]) : items[at + step]
  next?.focus()
}
