import './inspector.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Block } from '../../../../shared/dag/dag.ts'
import { waitWords } from '../../../../shared/runs/event-types.ts'
import type { WaitFold } from '../../../../shared/runs/run-fold.ts'
import { momentWords, sentBackWords, timeOfDayWords, tokensWords, usdWords } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard-shortcuts.tsx'
import { RunChangesNotice } from '../../parts/notice.tsx'
import { lookOf, StateMark } from '../../parts/state-mark.tsx'
import { Elapsed, WordsWithTimes } from '../../parts/time-view.tsx'
import { changeQuery, hrefOf } from '../../route.ts'
import { BlockActions } from '../controls/run-actions.tsx'
import { type RunAnswer, type RunSession, shownMoment } from '../session/run-session.ts'
import { GateList, InspectorAttempts, InspectorItems, InspectorTurns } from './attempts.tsx'
import { type Inspected, InspectorPart, inspectBlock } from './inspected-block.tsx'
import { InspectorArtifacts, InspectorOutputs } from './outputs.tsx'
import { StepProgress } from './step-work.tsx'

interface InspectorProps {
  readonly session: RunSession
  readonly blockId: string
}

/** All there is to know of the chosen block, beside whatever part of the run is shown. */
export function Inspector({ session, blockId }: InspectorProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // Whoever chose it by keyboard reads on here; a click leaves the focus where it was.
  useEffect(() => {
    if (document.activeElement?.matches('[data-block]:focus-visible') === true) heading.current?.focus()
  }, [])
  useKeys({ key: 'Escape', label: 'Close the block', run: () => close(blockId) })
  const inspected = inspectBlock(session, blockId)
  return (
    <aside class="inspector card stack" aria-label={`Block ${blockId}`}>
      <header class="inspector-top">
        <div>
          <h2 ref={heading} tabIndex={-1}>
            {blockId}
          </h2>
          {inspected !== undefined && inspected.definition.name !== blockId && (
            <p class="soft">{inspected.definition.name}</p>
          )}
        </div>
        {inspected !== undefined && <StateMark state={inspected.state} />}
        <button type="button" class="inspector-close" onClick={() => close(blockId)} title="Close (Esc)">
          Close
        </button>
      </header>
      {inspected === undefined ? (
        <p>The document of this run has no block with this id.</p>
      ) : (
        <>
          <InspectorWhy inspected={inspected} session={session} />
          <StepProgress inspected={inspected} />
          <BlockActions session={session} blockId={blockId} />
          <InspectorFacts inspected={inspected} session={session} />
          <InspectorWork inspected={inspected} session={session} />
        </>
      )}
    </aside>
  )
}

/** The focus goes back to what stands for the block, where that is shown. */
function close(blockId: string): void {
  changeQuery({ block: undefined, item: undefined })
  requestAnimationFrame(() => {
    const stands = document.querySelector<HTMLElement>(`[data-block="${CSS.escape(blockId)}"]`)
    if (document.activeElement === document.body) stands?.focus({ preventScroll: true })
  })
}

interface WorkProps {
  readonly inspected: Inspected
  readonly session: RunSession
}

/** What it was asked, what it answered, and how that was judged. */
function InspectorWork({ inspected, session }: WorkProps) {
  const { definition, fold } = inspected
  const promised = definition.pre_gates.length + definition.post_gates.length
  return (
    <>
      <InspectorApprovals inspected={inspected} session={session} />
      <InspectorOutputs inspected={inspected} session={session} />
      {(promised > 0 || (fold?.gates.length ?? 0) > 0) && (
        <InspectorPart title="Gates">
          <GateList gates={fold?.gates ?? []} promised={[...definition.pre_gates, ...definition.post_gates]} />
        </InspectorPart>
      )}
      <InspectorTurns inspected={inspected} session={session} />
      <InspectorItems inspected={inspected} />
      <InspectorAttempts inspected={inspected} session={session} />
      <InspectorArtifacts inspected={inspected} session={session} />
      <InspectorPart title="Definition">
        <details>
          <summary>As in the document of the run</summary>
          <pre>{JSON.stringify(definition, null, 2)}</pre>
        </details>
      </InspectorPart>
    </>
  )
}

interface WhyProps {
  readonly inspected: Inspected
  readonly session: RunSession
}

/** Why the block is in its state, in words; of a completed or running one there is nothing to say. */
function InspectorWhy({ inspected, session }: WhyProps) {
  const { state, fold, definition } = inspected
  const say = Object.hasOwn(WHY, state) ? WHY[state] : undefined
  const words = say?.(inspected, session)
  // Of a running one only some have a reason.
  if (words === undefined || words === null || words === false) return null
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
      Tried again {fold?.due_at === undefined ? 'soon' : `at ${timeOfDayWords(fold.due_at)}`}; the last try did not
      hold:
    </p>
  ),
  paused_approval: (inspected, session) => <AskedWords id={inspected.definition.id} session={session} />,
  running: ({ fold }) => fold?.wait !== undefined && fold.wait.ended_at === undefined && <WaitWords wait={fold.wait} />,
  pending: ({ definition }, session) => <PendingWords upstream={definition.upstream} session={session} />,
}

function WaitWords({ wait }: { readonly wait: WaitFold }) {
  return (
    <p>
      Waits for {waitWords(wait)} since <Moment at={wait.since} />, until <Moment at={wait.until} />.
    </p>
  )
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

interface FactsProps {
  readonly inspected: Inspected
  readonly session: RunSession
}

/** Work, tries, times and cost of all its attempts. */
function InspectorFacts({ inspected, session }: FactsProps) {
  const { definition, fold } = inspected
  const tokens = fold === undefined ? 0 : fold.tokens_in + fold.tokens_out
  const usd = fold?.usd_micros === undefined ? null : fold.usd_micros / 1_000_000
  return (
    <dl class="facts numbers">
      <Fact name="Work">{workWords(definition)}</Fact>
      {definition.mode === 'deterministic' && definition.step !== undefined && (
        <Fact name="Code">
          <code title={definition.step.hash}>{definition.step.hash.slice(0, 12)}</code>
        </Fact>
      )}
      <Fact name="Tries">{triesWords(inspected)}</Fact>
      {fold?.started_at !== undefined && (
        <>
          <Fact name="Took">
            <Elapsed from={fold.started_at} to={fold.ended_at ?? shownMoment(session).value} />
          </Fact>
          <Fact name="Started">
            <Moment at={fold.started_at} />
          </Fact>
        </>
      )}
      {fold?.ended_at !== undefined && (
        <Fact name="Ended">
          <Moment at={fold.ended_at} />
        </Fact>
      )}
      {tokens > 0 && <Fact name="Tokens">{tokensWords(fold?.tokens_in, fold?.tokens_out)}</Fact>}
      {tokens > 0 && <Fact name="Cost">{usdWords(usd, fold?.unpriced_tokens)}</Fact>}
      <RunFact name="Child run" id={fold?.child} />
      <RunFact name="Result of" id={fold?.cached_from} />
      {definition.upstream.length > 0 && <Fact name="Waits for">{definition.upstream.join(', ')}</Fact>}
    </dl>
  )
}

function triesWords({ definition, fold, answer }: Inspected): string {
  const { attempt = 0, untried = 0, epoch = 0 } = fold ?? {}
  const words = [`${attempt - untried} of ${answer?.max_attempts ?? definition.retry.max_attempts}`]
  if (untried > 0) words.push(`attempts that were no try: ${untried}`)
  if (epoch > 0) words.push(sentBackWords(epoch))
  return words.join(', ')
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function RunFact({ name, id }: { readonly name: string; readonly id: string | undefined }) {
  if (id === undefined) return null
  return (
    <Fact name={name}>
      <a href={hrefOf(['runs', id])}>
        <code>{id}</code>
      </a>
    </Fact>
  )
}

function Moment({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {momentWords(at)}
    </time>
  )
}

function workWords(block: Block): string {
  switch (block.mode) {
    case 'ai':
      return `ai: ${answererWords(block.agent)}${block.foreach === undefined ? '' : ', for each item'}`
    case 'deterministic':
      return `${block.step === undefined ? 'deterministic' : block.step.kind}: ${block.handler}`
    case 'dag':
      return `runs ${block.dag.name}`
    case 'research':
      return 'asks the knowledge graph'
    case 'approval':
      return 'a person decides'
    case 'wait':
      return WAITS[block.wait.kind]
  }
}

function answererWords({ provider, model, fallback = [] }: Extract<Block, { mode: 'ai' }>['agent']): string {
  return [{ provider, model }, ...fallback].map((one) => `${one.provider} ${one.model}`).join(', else ')
}

const WAITS = {
  for: 'waits for some time',
  until: 'waits until a time',
  event: 'waits for an event',
  callback: 'waits for a callback',
} as const

type Approval = RunAnswer['approvals'][number]

/** What people were asked about the block, and what they said. */
function InspectorApprovals({
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
  lost_step: 'about an attempt that was lost in the middle of its work',
  call: 'about the call of a tool',
}
