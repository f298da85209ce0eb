import { useState } from 'preact/hooks'
import { useKeys } from '../place/keys.ts'
import { DecideDialog } from './decide-dialog.tsx'
import { type Answer, type Approval, yesOf } from './decision.ts'

interface DecideProps {
  readonly approval: Approval
  /** `words`: what was done, for people. */
  readonly onDecided: (id: string, words: string) => void
  readonly reload: () => void
}

/** The way to both answers, by button and key; who may not decide is told why. */
export function DecideButtons({ approval, onDecided, reload }: DecideProps) {
  const [answer, setAnswer] = useState<Answer>()
  const yes = yesOf(approval)
  const { allowed, reason } = approval.may_decide
  const open = (next: Answer) => allowed && setAnswer(next)
  useKeys(
    { key: 'a', label: yes === 'waive' ? 'Waive the gates' : 'Approve', run: () => open(yes) },
    { key: 'r', label: 'Reject', run: () => open('reject') },
  )
  if (approval.status !== 'pending') return null
  return (
    <div class="decide">
      <div class="row">
        <button type="button" class="primary" disabled={!allowed} onClick={() => open(yes)}>
          {yes === 'waive' ? 'Waive …' : 'Approve …'}
        </button>
        <button type="button" class="danger" disabled={!allowed} onClick={() => open('reject')}>
          Reject …
        </button>
        {!allowed && <span>You may not decide: {reason}</span>}
      </div>
      {answer !== undefined && (
        <DecideDialog
          shown={approval}
          answer={answer}
          onClose={() => {
            setAnswer(undefined)
            reload()
          }}
          onDecided={(words) => {
            setAnswer(undefined)
            reload()
            onDecided(approval.approval_id, words)
          }}
        />
      )}
    </div>
  )
}
