import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { useChange } from '../place/use-change.ts'
import type { RunSession } from '../run-session.ts'

interface StopProps {
  readonly session: RunSession
  /** Only this block; the run goes on. */
  readonly blockId?: string
  readonly onClose: () => void
}

/** Cancels the run, or one block of it, with a reason that is recorded. */
export function StopDialog({ session, blockId, onClose }: StopProps) {
  const [reason, setReason] = useState('')
  const { isBusy, problem, run } = useChange()
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = {
      ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
      ...(blockId === undefined ? {} : { block_id: blockId }),
    }
    const params = { path: { run_id: session.runId } }
    const stopped = await run(() => answerOf(api.POST('/api/dag/runs/{run_id}/stop', { params, body })))
    void session.reload()
    if (stopped !== undefined) onClose()
  }
  const what = blockId === undefined ? 'this run' : `block ${blockId}`
  return (
    <Modal title={`Stop ${what}`} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p>{blockId === undefined ? RUN_WORDS : BLOCK_WORDS}</p>
        <label class="block-label">
          Reason <span class="soft">(recorded; may be left empty)</span>
          <input maxLength={500} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Keep running
          </button>
          <button type="submit" class="danger" disabled={isBusy}>
            Stop {what}
          </button>
        </div>
      </form>
    </Modal>
  )
}

const RUN_WORDS =
  'Calls under way are aborted within a second and the run ends cancelled. What was completed stays; a retry goes on from there.'
const BLOCK_WORDS =
  'Its call is aborted, and the blocks that wait for it are skipped. The rest of the run goes on; then the run ends failed.'
