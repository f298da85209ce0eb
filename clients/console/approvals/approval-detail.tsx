import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { changeQuery } from '../route.ts'
import { useAnswer } from '../use-answer.ts'
import { AskedFacts } from './asked-facts.tsx'
import { AskedHeading } from './asked-heading.tsx'
import { DecideButtons } from './decide-buttons.tsx'
import { DecidedWords } from './decided-words.tsx'
import { ShownValues } from './shown-values.tsx'

interface DetailProps {
  readonly id: string
  /** `words`: what was done, for people. */
  readonly onDecided: (id: string, words: string) => void
}

/** One question: what a yes allows, exactly what is shown, and the decision. */
export function ApprovalDetail({ id, onDecided }: DetailProps) {
  const { value, problem, reload } = useAnswer(`approval ${id}`, () => askApproval(id), 5_000)
  const approval = value?.approvals[0]
  if (approval === undefined) {
    return (
      <article class="card stack asked-detail">
        {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
        {problem === undefined && (
          <p class="empty">{value === undefined ? 'Asking for what is shown.' : `No approval has the id ${id}.`}</p>
        )}
      </article>
    )
  }
  return (
    <article class="card stack asked-detail">
      <button type="button" class="back" onClick={() => changeQuery({ approval: undefined })}>
        ← All approvals
      </button>
      <AskedHeading approval={approval} />
      <DecideButtons approval={approval} onDecided={onDecided} reload={reload} />
      {approval.status !== 'pending' && <DecidedWords approval={approval} />}
      <ShownValues approval={approval} />
      <AskedFacts approval={approval} />
    </article>
  )
}

function askApproval(approval_id: string) {
  return answerOf(api.GET('/api/dag/approvals', { params: { query: { approval_id, status: 'all' } } }))
}
