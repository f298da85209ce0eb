import { useMemo, useState } from 'preact/hooks'
import { answerOf, api } from '../../api.ts'
import { Modal } from '../../parts/modal.tsx'
import { ProblemNotice } from '../../parts/notice.tsx'
import { useChange } from '../../parts/use-answer.ts'
import { hrefOf } from '../../route.ts'
import { planRetry, type RetryPlan } from '../session/retry-plan.ts'
import { documentOf, type RunSession } from '../session/run-session.ts'
import { EraseDialog, HoldDialog } from './erase-run.tsx'
import { PauseDialog } from './pause-run.tsx'

/** What can be done with the run as it stands. */
export function RunActions({ session }: { readonly session: RunSession }) {
  const [open, setOpen] = useState<'stop' | 'retry' | 'pause' | 'hold' | 'erase'>()
  const run = session.answer.value?.run
  if (run === undefined) return null
  const close = () => setOpen(undefined)
  const isEnded = run.ended_at !== undefined
  return (
    <div class="run-actions row">
      <PendingLink session={session} />
      <a class="button" href={hrefOf(['compare', run.run_id])}>
        Compare with…
      </a>
      {isEnded && run.role !== 'research_pipeline' && (
        <button type="button" onClick={() => setOpen('retry')}>
          Retry…
        </button>
      )}
      {!isEnded && run.role !== 'research_pipeline' && (
        <button type="button" onClick={() => setOpen('pause')}>
          {run.paused === undefined ? 'Pause…' : 'Resume…'}
        </button>
      )}
      {!isEnded && (
        <button type="button" class="danger" onClick={() => setOpen('stop')}>
          Stop…
        </button>
      )}
      <button type="button" onClick={() => setOpen('hold')}>
        Hold…
      </button>
      {run.parent === undefined && (
        <button type="button" class="danger" onClick={() => setOpen('erase')}>
          {isEnded ? 'Erase…' : 'Erase at its end…'}
        </button>
      )}
      {open === 'stop' && <StopDialog session={session} onClose={close} />}
      {open === 'retry' && <RetryDialog session={session} onClose={close} />}
      {open === 'pause' && <PauseDialog session={session} onClose={close} />}
      {open === 'hold' && <HoldDialog session={session} onClose={close} />}
      {open === 'erase' && <EraseDialog session={session} goesOn={!isEnded} onClose={close} />}
    </div>
  )
}

/** What can be done with one block of it; nothing where nothing can. */
export function BlockActions({ session, blockId }: { readonly session: RunSession; readonly blockId: string }) {
  const [open, setOpen] = useState<'stop' | 'retry'>()
  const answer = session.answer.value
  if (answer === undefined || session.shownSeq.value !== undefined) return null
  const state = answer.blocks[blockId]?.state ?? ''
  const close = () => setOpen(undefined)
  const isEnded = answer.run.ended_at !== undefined
  return (
    <div class="row">
      {isEnded && (
        <button type="button" onClick={() => setOpen('retry')}>
          Retry from here…
        </button>
      )}
      {!isEnded && !OVER.has(state) && (
        <button type="button" class="danger" onClick={() => setOpen('stop')}>
          Stop this block…
        </button>
      )}
      {open === 'stop' && <StopDialog session={session} blockId={blockId} onClose={close} />}
      {open === 'retry' && <RetryDialog session={session} fromBlock={blockId} onClose={close} />}
    </div>
  )
}

const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

function PendingLink({ session }: { readonly session: RunSession }) {
  const pending = session.answer.value?.approvals.filter(({ status }) => status === 'pending') ?? []
  const [first] = pending
  if (first === undefined) return null
  return (
    <a class="button primary" href={hrefOf(['approvals'], { approval: first.approval_id })}>
      {pending.length === 1 ? `Decide on ${first.block_id}` : `Decide on ${pending.length} approvals`}
    </a>
  )
}

interface StopProps {
  readonly session: RunSession
  /** Only this block; the run goes on. */
  readonly blockId?: string
  readonly onClose: () => void
}

/** Cancels the run, or one block of it, with a reason that is recorded. */
function StopDialog({ session, blockId, onClose }: StopProps) {
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

interface RetryProps {
  readonly session: RunSession
  readonly fromBlock?: string
  readonly onClose: () => void
}

/** A new run that takes over what was completed; says before what begins again. */
function RetryDialog({ session, fromBlock, onClose }: RetryProps) {
  const { isBusy, problem, run } = useChange()
  // One for each time the dialog is opened: an answer that got lost makes no second run.
  const key = useMemo(() => Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join(''), [])
  const plan = planOf(session, fromBlock)
  const submit = async (event: Event) => {
    event.preventDefault()
    const params = { path: { run_id: session.runId } }
    const body = fromBlock === undefined ? {} : { from_block: fromBlock }
    const headers = { 'idempotency-key': key }
    const made = await run(() => answerOf(api.POST('/api/dag/runs/{run_id}/retry', { params, body, headers })))
    if (made !== undefined) location.hash = hrefOf(['runs', made.run_id, 'graph'])
  }
  return (
    <Modal title={fromBlock === undefined ? 'Retry this run' : `Retry from ${fromBlock}`} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p>
          A new, linked run of the same document with the same inputs. This one stays as it is. A result is taken over
          only where the block's definition and its inputs are unchanged; nothing is dispatched for it again.
        </p>
        <PlanWords plan={plan} />
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Start the retry
          </button>
        </div>
      </form>
    </Modal>
  )
}

function PlanWords({ plan: { again, kept } }: { readonly plan: RetryPlan }) {
  return (
    <dl class="facts">
      <dt>Begins again</dt>
      <dd>{again.length === 0 ? 'nothing: every block completed' : listed(again)}</dd>
      <dt>Taken over</dt>
      <dd>{kept.length === 0 ? 'nothing' : listed(kept)}</dd>
    </dl>
  )
}

function planOf({ answer }: RunSession, from: string | undefined): RetryPlan {
  const states = Object.entries(answer.value?.blocks ?? {})
  const completed = new Set(states.flatMap(([id, { state }]) => (state === 'completed' ? [id] : [])))
  return planRetry({ blocks: documentOf(answer.value)?.blocks ?? [], completed, from })
}

/** So many ids are told; of the others, how many there are. */
const TOLD = 12

function listed(ids: readonly string[]): string {
  const rest = ids.length - TOLD
  return rest > 0 ? `${ids.slice(0, TOLD).join(', ')} and ${rest} more` : ids.join(', ')
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
