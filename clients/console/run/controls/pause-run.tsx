import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api.ts'
import { Modal } from '../../parts/modal.tsx'
import { ProblemNotice } from '../../parts/notice.tsx'
import { useChange } from '../../parts/use-answer.ts'
import type { RunSession } from '../session/run-session.ts'

interface PauseProps {
  readonly session: RunSession
  readonly onClose: () => void
}

/** Pauses the run, or lets it go on, with a reason that is recorded. */
export function PauseDialog({ session, onClose }: PauseProps) {
  const [reason, setReason] = useState('')
  const { isBusy, problem, run } = useChange()
  const isPaused = session.answer.value?.run.paused !== undefined
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = reason.trim() === '' ? {} : { reason: reason.trim() }
    const params = { path: { run_id: session.runId } }
    const done = await run(async () => {
      if (isPaused) await answerOf(api.POST('/api/dag/runs/{run_id}/resume', { params, body }))
      else await answerOf(api.POST('/api/dag/runs/{run_id}/pause', { params, body }))
      return true
    })
    void session.reload()
    if (done === true) onClose()
  }
  return (
    <Modal title={isPaused ? 'Let this run go on' : 'Pause this run'} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p>{isPaused ? RESUME_WORDS : PAUSE_WORDS}</p>
        <label class="block-label">
          Reason <span class="soft">(recorded; may be left empty)</span>
          <input maxLength={500} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
        </div>
      </form>
    </Modal>
  )
}

const PAUSE_WORDS =
  'What is at work ends and is recorded; nothing begins, and deadlines stand still until the run is resumed. Questions may be answered meanwhile.'
const RESUME_WORDS = 'It goes on where it stood. Its deadline and those of open questions move on by that time.'
