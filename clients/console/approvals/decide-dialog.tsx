import { useState } from 'preact/hooks'
import { type ApiProblem, answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { useChange } from '../place/use-change.ts'
import { DecideFields } from './decide-fields.tsx'
import { DecidedOn } from './decided-on.tsx'
import { type Answer, type Approval, type Draft, decisionBody, needsFeedback } from './decision.ts'
import { useEdits } from './use-edits.tsx'
import { changesOf } from './what-changed.ts'

interface DialogProps {
  /** As the reader sees it: what is sent is its digest, whatever came since. */
  readonly shown: Approval
  readonly answer: Answer
  readonly onClose: () => void
  readonly onDecided: (words: string) => void
}

/** The last step: names what is decided on, takes the words for it, sends the digest of what was shown. */
export function DecideDialog({ shown, answer, onClose, onDecided }: DialogProps) {
  const [seen, setSeen] = useState(shown)
  const [changes, setChanges] = useState<readonly string[]>([])
  const [feedback, setFeedback] = useState('')
  const [restart, setRestart] = useState<Draft['restart']>('refine')
  const edits = useEdits(seen, answer)
  const { isBusy, problem, run } = useChange()
  const submit = async (event: Event) => {
    event.preventDefault()
    const draft: Draft = { answer, feedback, restart, edits: edits.values }
    const done = await run(() => decide(seen, draft))
    if (done === undefined) return
    if ('now' in done) {
      setChanges(changesOf(seen, done.now))
      setSeen(done.now)
    } else onDecided(doneWords(seen, answer, done.status))
  }
  const isReady = edits.isReady && (!needsFeedback(answer) || feedback.trim() !== '')
  return (
    <Modal title={`${WORDS[answer].title} ${seen.block_id} of ${seen.dag_name}`} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <DecidedOn approval={seen} changes={changes} />
        {edits.fields}
        <DecideFields
          approval={seen}
          answer={answer}
          feedback={feedback}
          onFeedback={setFeedback}
          restart={restart}
          onRestart={setRestart}
        />
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={answer === 'reject' ? 'danger' : 'primary'} disabled={isBusy || !isReady}>
            {WORDS[answer].button} {seen.block_id}
          </button>
        </div>
      </form>
    </Modal>
  )
}

const WORDS: Readonly<Record<Answer, { readonly title: string; readonly button: string; readonly done: string }>> = {
  approve: { title: 'Approve', button: 'Approve', done: 'Approved' },
  waive: { title: 'Waive failed gates of', button: 'Waive gates of', done: 'Waived the gates of' },
  reject: { title: 'Reject', button: 'Reject', done: 'Rejected' },
}

/** Votes are not yet a decision. */
function doneWords({ block_id, dag_name, quorum }: Approval, answer: Answer, status: string): string {
  const what = `${block_id} of ${dag_name}`
  if (status === 'pending') return `Your yes to ${what} counts; ${quorum} people are needed.`
  return `${WORDS[answer].done} ${what}.`
}

/** The new state, or how the question looks now, where it is no longer what was shown. */
async function decide(
  { run_id, ...shown }: Approval,
  draft: Draft,
): Promise<{ readonly status: string } | { readonly now: Approval }> {
  const params = { path: { run_id } }
  try {
    const body = decisionBody(shown, draft)
    const { approval } = await answerOf(api.POST('/api/dag/runs/{run_id}/approvals', { params, body }))
    return { status: approval.status }
  } catch (error) {
    const now = (error as ApiProblem).code === 'digest_changed' ? await askAgain(shown.approval_id) : undefined
    if (now === undefined) throw error
    return { now }
  }
}

async function askAgain(approval_id: string): Promise<Approval | undefined> {
  const params = { query: { approval_id, status: 'all' } } as const
  return (await answerOf(api.GET('/api/dag/approvals', { params }))).approvals[0]
}
