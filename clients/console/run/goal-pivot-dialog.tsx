import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { useChange } from '../place/use-change.ts'
import { hrefOf } from '../route.ts'

interface DialogProps {
  readonly runId: string
  readonly suggestions: readonly string[]
  readonly onClose: () => void
}

/** Starts the next attempt at the goal of a run, with what a person wants to tell it, and goes there. */
export function GoalPivotDialog({ runId, suggestions, onClose }: DialogProps) {
  const [feedback, setFeedback] = useState('')
  const { isBusy, problem, run } = useChange()
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = feedback.trim() === '' ? {} : { feedback: feedback.trim() }
    const params = { path: { run_id: runId } }
    const made = await run(() => answerOf(api.POST('/api/dag/runs/{run_id}/pivot', { params, body })))
    if (made !== undefined) location.hash = hrefOf(['runs', made.run_id, 'graph'])
  }
  return (
    <Modal title="Start the next attempt" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p>
          A new run of the same document, with the same goal as it was frozen. It is told these{' '}
          {suggestions.length === 1 ? 'words' : `${suggestions.length} suggestions`}:
        </p>
        <ul class="small">
          {suggestions.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
        <label class="block-label">
          Feedback <span class="soft">(it is told this besides; may be left empty)</span>
          <textarea maxLength={3_000} value={feedback} onInput={({ currentTarget: { value } }) => setFeedback(value)} />
        </label>
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Not now
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Start next attempt
          </button>
        </div>
      </form>
    </Modal>
  )
}
