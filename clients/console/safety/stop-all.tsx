import { useState } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { Ago } from '../parts/time-view.tsx'
import { useChange } from '../parts/use-answer.ts'
import { pendingApprovals, safety } from '../place-state.ts'

type Stopped = operations['stop-all']['responses'][200]['content']['application/json']

/** Cancels every run of the place; says first how many that are, and afterwards what it did. */
export function StopAllDialog({ onClose }: { readonly onClose: () => void }) {
  const [stopped, setStopped] = useState<Stopped>()
  return (
    <Modal title="Stop all runs" onClose={onClose}>
      {stopped === undefined ? (
        <StopForm onClose={onClose} onStopped={setStopped} />
      ) : (
        <StoppedWords stopped={stopped} onClose={onClose} />
      )}
    </Modal>
  )
}

interface FormProps {
  readonly onClose: () => void
  readonly onStopped: (stopped: Stopped) => void
}

function StopForm({ onClose, onStopped }: FormProps) {
  const [reason, setReason] = useState('')
  const [hold, setHold] = useState(false)
  const { isBusy, problem, run } = useChange()
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = { hold, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }
    const stopped = await run(() => answerOf(api.POST('/api/dag/runs/stop-all', { body })))
    void safety.reload()
    void pendingApprovals.reload()
    if (stopped !== undefined) onStopped(stopped)
  }
  return (
    <form class="stack" onSubmit={submit}>
      <p>
        {activeWords()} Every run that has not ended is cancelled, also those that wait for a person. What was completed
        stays; a cancelled run can be retried from where it was.
      </p>
      <label class="block-label">
        Reason <span class="soft">(recorded; may be left empty)</span>
        <input maxLength={500} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <label>
        <input type="checkbox" checked={hold} onChange={(event) => setHold(event.currentTarget.checked)} />
        Hold starts: refuse new runs until somebody releases them
      </label>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Keep running
        </button>
        <button type="submit" class="danger" disabled={isBusy}>
          {hold ? 'Stop all and hold starts' : 'Stop all runs'}
        </button>
      </div>
    </form>
  )
}

function activeWords(): string {
  const { active_runs: active = 0, queued_runs: queued = 0 } = safety.value.value ?? {}
  const waiting = queued === 0 ? '' : ` and ${queued} in the queue`
  return `${active} ${active === 1 ? 'run is' : 'runs are'} active${waiting}.`
}

function StoppedWords({ stopped, onClose }: { readonly stopped: Stopped; readonly onClose: () => void }) {
  const { left, not_stopped, hold } = stopped
  return (
    <div class="stack" role="status">
      <p>
        {stopped.stopped} {stopped.stopped === 1 ? 'run was' : 'runs were'} stopped.
        {hold !== undefined && ' Starts are on hold.'}
      </p>
      {left > 0 && <p>{left} could not be stopped now; ask again in a moment.</p>}
      {not_stopped.length > 0 && (
        <ul>
          {not_stopped.map(({ run_id, code }) => (
            <li key={run_id}>
              <code>{run_id}</code> {code}
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  )
}

/** Above every view while new runs are refused: by whom, since when, and the way out. */
export function HoldNotice() {
  const [isOpen, setOpen] = useState(false)
  const hold = safety.value.value?.hold
  if (hold === undefined || hold === null) return null
  return (
    <aside class="hold tone-warn" aria-label="Starts are on hold">
      <strong>
        <span aria-hidden="true">‖</span> Starts are on hold
      </strong>
      <span>
        by {hold.by}, <Ago at={hold.at} />
        {hold.reason !== undefined && `: ${hold.reason}`}
      </span>
      <button type="button" onClick={() => setOpen(true)}>
        Release starts
      </button>
      {isOpen && <ReleaseDialog onClose={() => setOpen(false)} />}
    </aside>
  )
}

function ReleaseDialog({ onClose }: { readonly onClose: () => void }) {
  const { isBusy, problem, run } = useChange()
  const queued = safety.value.value?.queued_runs ?? 0
  const release = async () => {
    const released = await run(() => answerOf(api.POST('/api/dag/safety/release', { body: {} })))
    if (released === undefined) return
    // Closed first: the notice goes with the hold, and this dialog with it.
    onClose()
    await safety.reload()
    document.getElementById('main')?.focus()
  }
  return (
    <Modal title="Release starts" onClose={onClose}>
      <p>
        New runs may start again.
        {queued > 0 && ` ${queued} queued ${queued === 1 ? 'run goes' : 'runs go'} on, as far as there is place.`}
      </p>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Keep the hold
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void release()}>
          Release starts
        </button>
      </div>
    </Modal>
  )
}
