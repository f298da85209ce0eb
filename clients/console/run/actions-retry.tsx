import { useMemo } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Modal } from '../parts/modal.tsx'
import { ProblemNotice } from '../parts/notice.tsx'
import { useChange } from '../place/use-change.ts'
import { hrefOf } from '../route.ts'
import type { RunSession } from '../run-session.ts'
import { planRetry, type RetryPlan } from './retry-plan.ts'
import { documentOf } from './run-document.ts'

interface RetryProps {
  readonly session: RunSession
  readonly fromBlock?: string
  readonly onClose: () => void
}

/** A new run that takes over what was completed; says before what begins again. */
export function RetryDialog({ session, fromBlock, onClose }: RetryProps) {
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
