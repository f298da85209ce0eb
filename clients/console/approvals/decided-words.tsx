import { answerOf, api } from '../api.ts'
import { ValueView } from '../parts/value-view.tsx'
import { useAnswer } from '../use-answer.ts'
import type { Approval } from './decision.ts'

/** What was said with a decision, and what was changed; the run keeps it. Nothing where nothing was said. */
export function DecidedWords({ approval }: { readonly approval: Approval }) {
  const { run_id, approval_id, status } = approval
  const { value } = useAnswer(`words ${approval_id} ${status}`, async () => {
    const { approvals } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
    return approvals.find((one) => one.approval_id === approval_id)
  })
  if (value === undefined) return null
  const { feedback, edits, iterate } = value
  return (
    <>
      {feedback !== undefined && <blockquote class="decided-words">{feedback}</blockquote>}
      {iterate !== undefined && <p>Another run takes its place: {iterate.replaceAll('_', ' ')}.</p>}
      {edits !== undefined && (
        <div>
          <p>Inputs as the approver changed them</p>
          <ValueView value={edits} label="edited inputs" />
        </div>
      )}
    </>
  )
}
