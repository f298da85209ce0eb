import './run-heading.css'
import type { ComponentChildren } from 'preact'
import { changeLines } from '../../../shared/approvals/run-change-lines.ts'
import { labelWords } from '../../../shared/runs/labels.ts'
import { shownPrice } from '../../../shared/runs/usage-cost.ts'
import { bytesWords, momentWords, usdWords } from '../parts/format.ts'
import { StateMark } from '../parts/state-mark.tsx'
import { Ago, Elapsed, WordsWithTimes } from '../parts/time-view.tsx'
import { CopyButton } from '../parts/value-view.tsx'
import { changeQuery, hrefOf } from '../route.ts'
import { RunActions } from './controls/run-actions.tsx'
import type { RunAnswer, RunSession, TabProps } from './session/run-session.ts'

/** What a run is, how it stands and what can be done with it; drawn when the run is known. */
export function RunHeading({ session }: TabProps) {
  const run = session.answer.value?.run
  if (run === undefined) return null
  const isReplay = session.shownSeq.value !== undefined
  const { state } = isReplay ? session.fold.value : run
  return (
    <header class="run-heading">
      <div class="run-title">
        <p class="run-crumbs small">
          <a href={hrefOf(['runs'])}>Runs</a>
          <span aria-hidden="true">/</span>
          <a href={hrefOf(['runs'], { dag: run.dag_name })}>{run.dag_name}</a>
        </p>
        <div class="row">
          <h1>{run.dag_name}</h1>
          <StateMark state={state} />
          <StreamMark session={session} />
          <ReplayMark session={session} />
        </div>
      </div>
      <RunActions session={session} />
      <RunSituation session={session} />
      <RunFacts session={session} />
      <RunLinks session={session} />
    </header>
  )
}

/** What it waits for, or why it ended: nothing while an earlier moment is shown. */
function RunSituation({ session }: { readonly session: RunSession }) {
  const run = session.answer.value?.run
  if (run === undefined || session.shownSeq.value !== undefined) return null
  const { waiting_for, reason, code, final_status, row } = run
  return (
    <div class="run-situation" aria-live="polite">
      {waiting_for !== undefined && (
        <p>
          <strong>Now:</strong> <WordsWithTimes words={waiting_for} />
        </p>
      )}
      {reason !== undefined && (
        <p>
          <strong>Why it ended:</strong> <WordsWithTimes words={reason} />
          {code !== undefined && code !== run.state && (
            <>
              {' '}
              <code class="soft">{code}</code>
            </>
          )}
        </p>
      )}
      {final_status !== undefined && (
        <p class="row">
          <strong>Judged:</strong>
          <StateMark state={final_status} />
          {row !== undefined && (
            <a href={hrefOf(['runs', run.run_id, 'goal'])}>
              row <code>{row}</code>
            </a>
          )}
        </p>
      )}
    </div>
  )
}

type Run = RunAnswer['run']

/** Times, cost and caps, in a line that wraps. */
function RunFacts({ session }: { readonly session: RunSession }) {
  const run = session.answer.value?.run
  if (run === undefined) return null
  const isReplay = session.shownSeq.value !== undefined
  const fold = session.fold.value
  const tokens = isReplay ? fold.tokens : run.tokens
  const { usd, unpriced_tokens } = isReplay ? shownPrice(fold) : run
  const until = isReplay ? session.events.value[fold.seq - 1]?.at : run.ended_at
  return (
    <dl class="run-facts numbers">
      <Fact name="Run">
        <code>{run.run_id}</code> <CopyButton text={() => run.run_id} label="run id" />
      </Fact>
      <Fact name="Elapsed">
        {run.started_at === undefined ? 'not started' : <Elapsed from={run.started_at} to={until} />}
      </Fact>
      <Fact name="Tokens">
        {tokens.toLocaleString()}
        <Cap of={tokensCap(run)} />
      </Fact>
      <Fact name="Cost">
        {usdWords(usd, unpriced_tokens)}
        <Cap of={run.budget.cap_usd === undefined ? undefined : usdWords(run.budget.cap_usd)} />
      </Fact>
      {run.storage !== undefined && (
        <Fact name="Stored">
          {bytesWords(run.storage.stored_bytes)}
          <Cap of={bytesWords(run.storage.quota_bytes)} />
        </Fact>
      )}
      <Fact name="Started by">{run.starter}</Fact>
      {run.labels !== undefined && <Fact name="Labels">{labelWords(run.labels)}</Fact>}
      {run.changes !== undefined && <Fact name="Not a plain start">{changeLines(run.changes).join('; ')}</Fact>}
      <Fact name="Created">
        <Ago at={run.created_at} />
      </Fact>
      {run.started_at !== undefined && run.started_at !== run.created_at && (
        <Fact name="Started">
          <Ago at={run.started_at} />
        </Fact>
      )}
      {run.ended_at === undefined ? (
        <Fact name="Deadline">
          <time dateTime={run.deadline} title={run.deadline}>
            {momentWords(run.deadline)}
          </time>
        </Fact>
      ) : (
        <Fact name="Ended">
          <Ago at={run.ended_at} />
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function tokensCap({ budget: { cap_tokens } }: Run): string | undefined {
  return cap_tokens?.toLocaleString()
}

function Cap({ of }: { readonly of: string | undefined }) {
  return of === undefined ? null : <span class="soft"> of {of}</span>
}

/** The runs it came of and those that came of it, each with the way to compare them. */
function RunLinks({ session }: { readonly session: RunSession }) {
  const run = session.answer.value?.run
  if (run === undefined) return null
  const relations = relationsOf(run)
  if (relations.length === 0) return null
  return (
    <ul class="run-links small" aria-label="Linked runs">
      {relations.map(({ words, id, block }) => (
        <li key={`${words} ${id}`}>
          {words}{' '}
          <a href={hrefOf(['runs', id], { block })} title={id}>
            <code>{id.slice(0, SHORT)}…</code>
          </a>
          {block !== undefined && (
            <>
              {' '}
              block <code>{block}</code>
            </>
          )}
          {block === undefined && (
            <a href={hrefOf(['compare', id, run.run_id])} aria-label={`Compare ${id} with this run`}>
              compare
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

interface Relation {
  readonly words: string
  readonly id: string
  readonly block?: string
}

/** run_ and the first eight characters tell runs of one place apart; the whole id is in the title. */
const SHORT = 12

function relationsOf(run: RunAnswer['run']): readonly Relation[] {
  const { parent, retried_by = [], continued_by = [] } = run
  const one = (words: string, id: string | undefined): readonly Relation[] => (id === undefined ? [] : [{ words, id }])
  const next = run.next_run === run.pivoted_by ? undefined : run.next_run
  return [
    ...(parent === undefined ? [] : [{ words: 'Works for', id: parent.run_id, block: parent.block_id }]),
    ...one('Continues', run.continues),
    ...one('Retries', run.retry_of),
    ...one('Takes the place of', run.iterates),
    ...one('Tries again the goal of', run.pivots),
    ...one('Goal tried again by', run.pivoted_by),
    ...one('Fired by', run.follows),
    ...one('Followed by', next),
    ...retried_by.flatMap((id) => one('Retried by', id)),
    ...continued_by.flatMap((id) => one('Continued by', id)),
  ]
}

/** Whether what is shown is what is happening. */
function StreamMark({ session }: { readonly session: RunSession }) {
  const { words, tone, title } = streamOf(session)
  return (
    <span class={`stream-mark ${tone}`} role="status" title={title}>
      <span class="dot" aria-hidden="true" />
      {words}
    </span>
  )
}

function streamOf({ isEnded, isLive, events }: RunSession) {
  if (isEnded.value) return { words: 'Ended', tone: 'is-ended', title: 'Every event of the run is here.' }
  if (isLive.value) return { words: 'Live', tone: 'is-live', title: 'Events are shown as they happen.' }
  const words = events.value.length === 0 ? 'Connecting' : 'Reconnecting'
  return { words, tone: 'is-away', title: 'What is shown may be older than the run.' }
}

/** Says so while an earlier moment is shown, and leads back to the newest. */
function ReplayMark({ session }: { readonly session: RunSession }) {
  const seq = session.shownSeq.value
  if (seq === undefined) return null
  const back = () => {
    session.show(undefined)
    changeQuery({ seq: undefined })
  }
  return (
    <span class="replay-mark">
      Shown as of event {seq} of {session.events.value.length}
      <button type="button" onClick={back}>
        Back to newest
      </button>
    </span>
  )
}
