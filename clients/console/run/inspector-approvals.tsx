import { RunChangesNotice } from '../parts/run-changes.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { momentWords } from '../parts/time-words.ts'
import { hrefOf } from '../route.ts'
import type { RunAnswer, RunSession } from '../run-session.ts'
import type { Inspected } from './inspector-block.ts'
import { InspectorPart } from './inspector-part.tsx'

type Approval = RunAnswer['approvals'][number]

/** What people were asked about the block, and what they said. */
export function InspectorApprovals({
  inspected: { definition },
  session,
}: {
  readonly inspected: Inspected
  readonly session: RunSession
}) {
  const { approvals } = session.fold.value
  const asked = (session.answer.value?.approvals ?? []).filter(
    ({ block_id, approval_id }) => block_id === definition.id && Object.hasOwn(approvals, approval_id),
  )
  if (asked.length === 0) return null
  return (
    <InspectorPart title={asked.length === 1 ? 'Approval' : 'Approvals'}>
      <ul class="gate-list">
        {asked.map((approval) => (
          <li key={approval.approval_id}>
            <Question approval={{ ...approval, ...pastOf(approvals[approval.approval_id]) }} />
          </li>
        ))}
      </ul>
    </InspectorPart>
  )
}

/** As of the moment shown: it may have been decided since. */
function pastOf(fold: RunSession['fold']['value']['approvals'][string] | undefined): Partial<Approval> {
  return fold === undefined || fold.status !== 'pending' ? {} : { status: 'pending' }
}

function Question({ approval }: { readonly approval: Approval }) {
  const { approval_id, status, about = 'dispatch', prompt, decided_by, decided_at, via, feedback } = approval
  const isOpen = status === 'pending'
  return (
    <>
      <div class="row">
        <StateMark state={isOpen ? 'asked' : status} />
        <span class="small soft">{ABOUT[about] ?? about}</span>
        <a href={hrefOf(['approvals'], { approval: approval_id })}>{isOpen ? 'Decide' : 'What was shown'}</a>
      </div>
      <RunChangesNotice changes={approval.changes} />
      <p>{prompt}</p>
      {!isOpen && decided_by !== undefined && (
        <p class="small soft">
          {decided_by}
          {via !== undefined && ` by ${via}`}
          {decided_at !== undefined && (
            <>
              ,{' '}
              <time dateTime={decided_at} title={decided_at}>
                {momentWords(decided_at)}
              </time>
            </>
          )}
        </p>
      )}
      {!isOpen && feedback !== undefined && <blockquote>{feedback}</blockquote>}
    </>
  )
}

const ABOUT: Readonly<Record<string, string>> = {
  dispatch: 'before its work',
  pre_gates: 'about gates before its work',
  post_gates: 'about gates after its work',
  budget: 'about its budget',
}
