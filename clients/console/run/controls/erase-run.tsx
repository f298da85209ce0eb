import { useState } from 'preact/hooks'
import type { operations } from '../../../api/schema.generated.ts'
import { answerOf, api } from '../../api.ts'
import { Modal } from '../../parts/modal.tsx'
import { ProblemNotice } from '../../parts/notice.tsx'
import { Ago } from '../../parts/time-view.tsx'
import { useAnswer, useChange } from '../../parts/use-answer.ts'
import { hrefOf } from '../../route.ts'
import type { RunSession } from '../session/run-session.ts'

interface DialogProps {
  readonly session: RunSession
  readonly onClose: () => void
}

type Mark = operations['get-erasure']['responses'][200]['content']['application/json']

/** Erases a run for good, one that goes on as soon as it has ended: says before what goes and what stays. */
export function EraseDialog({ session, goesOn, onClose }: DialogProps & { readonly goesOn: boolean }) {
  const [reason, setReason] = useState('')
  const [isSure, setSure] = useState(false)
  const [begun, setBegun] = useState<Mark>()
  const { isBusy, problem, run } = useChange()
  const submit = async (event: Event) => {
    event.preventDefault()
    const params = { path: { run_id: session.runId } }
    const body = { reason: reason.trim(), ...(goesOn && { when_ended: true }) }
    const mark = await run(() => answerOf(api.DELETE('/api/dag/runs/{run_id}', { params, body })))
    if (mark !== undefined) setBegun(mark)
  }
  if (begun !== undefined) return <Begun mark={begun} />
  return (
    <Modal title={goesOn ? 'Erase this run when it has ended' : 'Erase this run'} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <dl class="facts">
          <dt>Goes, for good</dt>
          <dd>
            Its events, inputs, outputs, prompts, answers, artifacts, labels and notes, and those of the runs its blocks
            opened. Nobody brings them back but a backup.
          </dd>
          <dt>Stays</dt>
          <dd>
            A record: its id, times and hashes, who erased it and why. Bodies that another run or the graph names. What
            webhooks and people were told already, copies of the stage, backups.
          </dd>
        </dl>
        <ReasonField reason={reason} onChange={setReason} />
        <label>
          <input type="checkbox" checked={isSure} onChange={(event) => setSure(event.currentTarget.checked)} />
          Erase <code>{session.runId}</code> and the runs below it
        </label>
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="submit" class="danger" disabled={isBusy || !isSure || reason.trim() === ''}>
            {goesOn ? 'Erase at its end' : 'Erase for good'}
          </button>
        </div>
      </form>
    </Modal>
  )
}

/** Its page is of nothing from here on. */
function Begun({ mark }: { readonly mark: Mark }) {
  const leave = () => {
    location.hash = hrefOf(['runs'])
  }
  const title = mark.erasure?.when_ended ? 'The run is erased when it has ended' : 'The run is being erased'
  return (
    <Modal title={title} onClose={leave}>
      <p>
        It goes on by itself, also after a restart. <code>sluice run erasure {mark.run_id}</code> shows how far it is,
        and then the record; with <code>--proof</code> to print and to keep.
      </p>
      <div class="actions">
        <button type="button" onClick={leave}>
          Close
        </button>
      </div>
    </Modal>
  )
}

/** Holds a run, so that nobody erases it and it does not grow too old; or lifts that. */
export function HoldDialog({ session, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const params = { path: { run_id: session.runId } }
  const mark = useAnswer(session.runId, () => answerOf(api.GET('/api/dag/runs/{run_id}/erasure', { params })))
  const { isBusy, problem, run } = useChange()
  const hold = mark.value?.hold
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = { reason: reason.trim() }
    const changed = await run(() =>
      answerOf(
        hold === undefined
          ? api.PUT('/api/dag/runs/{run_id}/hold', { params, body })
          : api.DELETE('/api/dag/runs/{run_id}/hold', { params, body }),
      ),
    )
    if (changed !== undefined) onClose()
  }
  const shown = problem ?? mark.problem
  return (
    <Modal title={hold === undefined ? 'Hold this run' : 'Hold this run no more'} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {hold === undefined ? (
          <p>While it is held, nobody can erase it or the runs below it, and none of it is removed for its age.</p>
        ) : (
          <p>
            {hold.by} holds it since <Ago at={hold.at} />: {hold.reason}. Without that it ages again from now on, and
            may be erased.
          </p>
        )}
        <ReasonField reason={reason} onChange={setReason} />
        {shown !== undefined && <ProblemNotice problem={shown} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy || mark.value === undefined || reason.trim() === ''}>
            {hold === undefined ? 'Hold' : 'Lift the hold'}
          </button>
        </div>
      </form>
    </Modal>
  )
}

function ReasonField({ reason, onChange }: { readonly reason: string; readonly onChange: (reason: string) => void }) {
  return (
    <label class="block-label">
      Why <span class="soft">(it stays: name nobody)</span>
      <input required maxLength={500} value={reason} onInput={(event) => onChange(event.currentTarget.value)} />
    </label>
  )
}
