import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { Ago } from '../parts/moment.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { safety } from './place-state.ts'
import { useChange } from './use-change.ts'

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
