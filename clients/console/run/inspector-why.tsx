import type { ComponentChildren } from 'preact'
import { Elapsed } from '../parts/moment.tsx'
import { lookOf } from '../parts/state-mark.tsx'
import { timeWords } from '../parts/time-words.ts'
import { changeQuery, hrefOf } from '../route.ts'
import type { RunSession } from '../run-session.ts'
import type { Inspected } from './inspector-block.ts'
import { WordsWithTimes } from './words-with-times.tsx'

interface WhyProps {
  readonly inspected: Inspected
  readonly session: RunSession
}

/** Why the block is in its state, in words; of a completed or running one there is nothing to say. */
export function InspectorWhy({ inspected, session }: WhyProps) {
  const { state, fold, definition } = inspected
  const say = Object.hasOwn(WHY, state) ? WHY[state] : undefined
  const words = say?.(inspected, session)
  if (words === undefined || words === null) return null
  return (
    <div class={`notice tone-${lookOf(state).tone} inspector-why`}>
      {words}
      {fold?.error !== undefined && state === 'retrying' && <ErrorWords error={fold.error} />}
      {state === 'skipped' && fold?.condition !== undefined && (
        <pre>{fold.condition === 'when' ? definition.when : definition.depends}</pre>
      )}
    </div>
  )
}

/** Each state that needs a reason says it itself. */
const WHY: Readonly<Record<string, (inspected: Inspected, session: RunSession) => ComponentChildren>> = {
  failed: ({ fold }) => fold?.error !== undefined && <ErrorWords error={fold.error} />,
  cancelled: ({ fold }) =>
    fold?.error === undefined ? <p>The run ended before this block did.</p> : <ErrorWords error={fold.error} />,
  skipped: ({ fold }) => <SkippedWords because={fold?.because ?? []} condition={fold?.condition} />,
  retrying: ({ fold }) => (
    <p>
      Tried again {fold?.due_at === undefined ? 'soon' : `at ${timeWords(fold.due_at)}`}; the last try did not hold:
    </p>
  ),
  paused_approval: (inspected, session) => <AskedWords id={inspected.definition.id} session={session} />,
  pending: ({ definition }, session) => <PendingWords upstream={definition.upstream} session={session} />,
}

function ErrorWords({
  error: { code, reason },
}: {
  readonly error: { readonly code: string; readonly reason: string }
}) {
  return (
    <>
      <p>
        <WordsWithTimes words={reason} />
      </p>
      <p class="small">
        Code <code>{code}</code>
      </p>
    </>
  )
}

interface SkippedProps {
  readonly because: readonly string[]
  readonly condition: 'when' | 'depends' | undefined
}

function SkippedWords({ because, condition }: SkippedProps) {
  if (condition !== undefined)
    return (
      <p>
        Skipped: its condition <code>{condition}</code> was not true.
      </p>
    )
  return (
    <p>
      Skipped, since {because.length === 1 ? 'this block' : 'these blocks'} did not complete:{' '}
      <BlockList ids={because} />
    </p>
  )
}

function AskedWords({ id, session }: { readonly id: string; readonly session: RunSession }) {
  const asked = Object.values(session.fold.value.approvals).find(
    ({ block_id, status }) => block_id === id && status === 'pending',
  )
  if (asked === undefined) return <p>A person is asked about it.</p>
  return (
    <p>
      A person has been asked for <Elapsed from={asked.requested_at} to={undefined} />.{' '}
      <a href={hrefOf(['approvals'], { approval: asked.approval_id })}>Decide</a>
    </p>
  )
}

function PendingWords({ upstream, session }: { readonly upstream: readonly string[]; readonly session: RunSession }) {
  const { blocks } = session.fold.value
  const open = upstream.filter((id) => blocks[id]?.state !== 'completed')
  if (open.length === 0) return <p>Nothing it waits for is open: it begins when there is a place for it.</p>
  return (
    <p>
      Waits for <BlockList ids={open} />
    </p>
  )
}

function BlockList({ ids }: { readonly ids: readonly string[] }) {
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <button type="button" class="as-link" onClick={() => changeQuery({ block: id })}>
            {id}
          </button>
        </span>
      ))}
    </>
  )
}
