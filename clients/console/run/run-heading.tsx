import { StateMark } from '../parts/state-mark.tsx'
import { hrefOf } from '../route.ts'
import type { RunSession } from '../run-session.ts'
import { RunActions } from './actions.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunLinks } from './run-links.tsx'
import { ReplayMark, StreamMark } from './run-marks.tsx'
import type { TabProps } from './tab-props.ts'
import { WordsWithTimes } from './words-with-times.tsx'
import './run-heading.css'

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
