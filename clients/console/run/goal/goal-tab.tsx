import './goal.css'
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api.ts'
import { Modal } from '../../parts/modal.tsx'
import { Empty, ProblemNotice } from '../../parts/notice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Ago } from '../../parts/time-view.tsx'
import { useAnswer, useChange } from '../../parts/use-answer.ts'
import { ObjectLink } from '../../parts/value-view.tsx'
import { hrefOf } from '../../route.ts'
import type { TabProps } from '../session/run-session.ts'
import { actionWords, type GoalAnswer, goalMatrix, type MatrixCell, TRUSTS } from './goal-matrix.ts'

/** How far a run is with its goal, why it ended as it did, and what the next attempt should change. */
export function GoalTab({ session }: TabProps) {
  const { runId } = session
  const params = { path: { run_id: runId } }
  const { value, problem, reload } = useAnswer(`goal ${runId}`, () =>
    answerOf(api.GET('/api/dag/runs/{run_id}/goal', { params })),
  )
  // Each of the run's own answers comes after something happened; the goal may be judged then.
  const answer = session.answer.value
  useEffect(() => {
    if (answer !== undefined) reload()
  }, [answer, reload])
  if (problem?.code === 'no_goal') return <NoGoal />
  if (value === undefined) return problem === undefined ? <p>Loading the goal</p> : <ProblemNotice problem={problem} />
  return <Goal goal={value} />
}

function Goal({ goal }: { readonly goal: GoalAnswer }) {
  return (
    <div class="goal stack">
      <header class="card stack">
        <div class="row">
          <h2>{goal.goal_text ?? 'No goal contract: the other gates decide'}</h2>
          <StateMark state={goal.final_status ?? 'PENDING'} />
        </div>
        <p class="soft small">
          Attempt {goal.attemptNumber} of {goal.maxAttempts}
          {goal.contract_from !== null &&
            `, contract from the ${CONTRACT_FROM[goal.contract_from]}, frozen at the start`}
          {goal.contract_hash !== null && (
            <>
              {' '}
              (<code title={goal.contract_hash}>{goal.contract_hash.slice(0, 12)}</code>)
            </>
          )}
        </p>
      </header>
      <GoalGates goal={goal} />
      <GoalCriteria goal={goal} />
      <GoalPivot goal={goal} />
      <GoalMatrix goal={goal} />
      <GoalAttempts goal={goal} />
    </div>
  )
}

const CONTRACT_FROM = { request: 'request', dag: 'document' } as const

function NoGoal() {
  return (
    <div class="card">
      <h2>This run has no goal</h2>
      <Empty>
        With one, Sluice judges at the end whether the evidence can be trusted (trust gate) and whether what was asked
        for was reached (goal gate), and shows both here.
      </Empty>
      <p>
        Give the document a <code>goal_contract</code> or <code>completion</code>, or start the run with{' '}
        <code>--goal-contract FILE</code>. <code>sluice goal init</code> writes a contract to begin with;{' '}
        <code>sluice run start --example churn-analysis</code> is a run that has one.
      </p>
    </div>
  )
}

interface Gate {
  readonly title: string
  readonly state: string
  readonly figure: string
  readonly words: string
  /** What the bar below it shows; absent = nothing to measure. */
  readonly bar?: { readonly label: string; readonly value: number; readonly max: number }
}

/** The two gates beside each other, the quality gate, and what they make of the run together. */
function GoalGates({ goal }: { readonly goal: GoalAnswer }) {
  return (
    <div class="goal-gates">
      {[trustGate(goal), goalGate(goal), qualityGate(goal), verdict(goal)].map((gate) => (
        <section key={gate.title} class="card">
          <h3>{gate.title}</h3>
          <StateMark state={gate.state} />
          <p class="goal-figure numbers">{gate.figure}</p>
          <p class="soft small">{gate.words}</p>
          {gate.bar !== undefined && (
            <meter min={0} max={gate.bar.max} value={gate.bar.value} aria-label={gate.bar.label} />
          )}
        </section>
      ))}
    </div>
  )
}

const WAITS = { state: 'PENDING', figure: '–', words: 'judged when every block has ended' }

function trustGate({ trust }: GoalAnswer): Gate {
  const title = 'Trust gate'
  if (trust === null) return { title, ...WAITS }
  const { score, passed, band } = trust
  const shown = { title, state: passed ? 'passed' : 'failed', words: `${band ?? 'no score'}; 80 and more pass` }
  if (score === null) return { ...shown, figure: '–' }
  return { ...shown, figure: String(score), bar: { label: 'Trust score', value: score, max: 100 } }
}

function goalGate({ row, metCount, criteriaCount }: GoalAnswer): Gate {
  const [, status = 'PENDING'] = row?.split(' x ') ?? []
  const shown = { title: 'Goal gate', state: status, figure: `${metCount} of ${criteriaCount}` }
  if (criteriaCount === 0) return { ...shown, words: 'no criteria: nothing to reach' }
  return { ...shown, words: 'criteria met', bar: { label: 'Criteria met', value: metCount, max: criteriaCount } }
}

function qualityGate({ quality }: GoalAnswer): Gate {
  const title = 'Quality gate'
  if (quality === null) return { title, ...WAITS }
  const { score, violations } = quality
  return {
    title,
    state: violations.length === 0 ? 'passed' : 'failed',
    figure: String(score),
    words: violations.length === 0 ? 'no violations' : `violations: ${violations.length}`,
    bar: { label: 'Quality score', value: score, max: 100 },
  }
}

function verdict({ row, final_status, criteria }: GoalAnswer): Gate {
  const unmet = criteria.filter(({ status }) => status !== 'MET').length
  const words = unmet === 0 ? 'nothing is missing' : `criteria not met: ${unmet}`
  const judged = row === null ? WAITS : { figure: row, words }
  return { title: 'Together', ...judged, state: final_status ?? 'PENDING' }
}

type Criterion = GoalAnswer['criteria'][number]
type Source = NonNullable<Criterion['source']>

/** What was to be reached and what was, each with where it was read; violations and warnings below. */
function GoalCriteria({ goal }: { readonly goal: GoalAnswer }) {
  const violations = goal.quality?.violations ?? []
  return (
    <section class="card stack">
      <h3>Criteria</h3>
      {goal.criteria.length === 0 ? <Empty>A goal contract would name them.</Empty> : <Criteria goal={goal} />}
      {violations.length > 0 && (
        <>
          <h3>Quality violations</h3>
          <ul>
            {violations.map(({ code, penalty, message, source }) => (
              <li key={`${code} ${message}`}>
                {message} <code>{code}</code> <span class="soft">costs {penalty}</span>{' '}
                {source !== undefined && <SourceLink runId={goal.run_id} source={source} />}
              </li>
            ))}
          </ul>
        </>
      )}
      {goal.warnings.length > 0 && (
        <>
          <h3>Warnings and blockers</h3>
          <ul>
            {goal.warnings.map(({ code, message, severity }) => (
              <li key={`${code} ${message}`}>
                {message} <code>{code}</code> <span class="soft">{severity}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function Criteria({ goal: { run_id, criteria } }: { readonly goal: GoalAnswer }) {
  return (
    <div class="scroll">
      <table class="goal-criteria">
        <thead>
          <tr>
            {['Criterion', 'Status', 'Found', 'Wanted', 'In words', 'Read from'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {criteria.map((one, place) => (
            <tr key={one.id ?? place}>
              <th scope="row">
                <code>{one.id ?? '–'}</code>
                <div class="soft small">{one.kind?.replaceAll('_', ' ')}</div>
              </th>
              <td>
                <StateMark state={one.status} />
              </td>
              <td class="numbers">{one.actual ?? '–'}</td>
              <td class="numbers">{one.target ?? '–'}</td>
              <td>{one.message}</td>
              <td>{one.source === null ? '–' : <SourceLink runId={run_id} source={one.source} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The block, the event and the line that supplied it; an artifact is no event but an object. */
function SourceLink({ runId, source }: { readonly runId: string; readonly source: Source }) {
  const { block, attempt, seq, line, sha256, bytes } = source
  return (
    <span class="small">
      {block !== undefined && <a href={hrefOf(['runs', runId, 'graph'], { block })}>{block}</a>}
      {attempt !== undefined && <span class="soft"> attempt {attempt}</span>}
      {seq !== undefined && (
        <>
          , <a href={hrefOf(['runs', runId, 'events'], { seq: String(seq) })}>event {seq}</a>
        </>
      )}
      {line !== undefined && <span class="soft">, line {line}</span>}
      {sha256 !== undefined && (
        <>
          , <ObjectLink object={{ ref: sha256, sha256, ...(bytes !== undefined && { bytes }) }} />
        </>
      )}
    </span>
  )
}

/** What the next attempt is told, and how it starts or which run it is. Nothing where no attempt is to follow. */
function GoalPivot({ goal }: { readonly goal: GoalAnswer }) {
  const [isAsked, setAsked] = useState(false)
  const { pivot, run_id } = goal
  if (pivot === null || (pivot.suggestions.length === 0 && pivot.next_run === undefined)) return null
  const { mode, shouldPivot, suggestions, unachievable, next_run } = pivot
  return (
    <section class="card stack">
      <h3>For the next attempt</h3>
      <ul>
        {suggestions.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      {unachievable.length > 0 && <p>Given up, after different approaches failed: {unachievable.join(', ')}.</p>}
      <p class="row">
        {next_run !== undefined && (
          <span>
            It is run{' '}
            <a href={hrefOf(['runs', next_run, 'goal'])}>
              <code>{next_run}</code>
            </a>
            .
          </span>
        )}
        {next_run === undefined && shouldPivot && (
          <button type="button" class="primary" onClick={() => setAsked(true)}>
            Start next attempt
          </button>
        )}
        <span class="soft">{shouldPivot ? MODES[mode] : 'No further attempt is due.'}</span>
      </p>
      {isAsked && <GoalPivotDialog runId={run_id} suggestions={suggestions} onClose={() => setAsked(false)} />}
    </section>
  )
}

const MODES = {
  manual: 'A person starts the next attempt (pivot: manual).',
  auto: 'The run starts its next attempt by itself (pivot: auto).',
} as const

interface DialogProps {
  readonly runId: string
  readonly suggestions: readonly string[]
  readonly onClose: () => void
}

/** Starts the next attempt at the goal of a run, with what a person wants to tell it, and goes there. */
function GoalPivotDialog({ runId, suggestions, onClose }: DialogProps) {
  const [feedback, setFeedback] = useState('')
  const { isBusy, problem, run } = useChange()
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = feedback.trim() === '' ? {} : { feedback: feedback.trim() }
    const params = { path: { run_id: runId } }
    const made = await run(() => answerOf(api.POST('/api/dag/runs/{run_id}/pivot', { params, body })))
    if (made !== undefined) location.hash = hrefOf(['runs', made.run_id, 'graph'])
  }
  return (
    <Modal title="Start the next attempt" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p>
          A new run of the same document, with the same goal as it was frozen. It is told these{' '}
          {suggestions.length === 1 ? 'words' : `${suggestions.length} suggestions`}:
        </p>
        <ul class="small">
          {suggestions.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
        <label class="block-label">
          Feedback <span class="soft">(it is told this besides; may be left empty)</span>
          <textarea maxLength={3_000} value={feedback} onInput={({ currentTarget: { value } }) => setFeedback(value)} />
        </label>
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Not now
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Start next attempt
          </button>
        </div>
      </form>
    </Modal>
  )
}

/** The table that decides, whole: which row decided this run is said by sign and words. */
function GoalMatrix({ goal: { row, final_status } }: { readonly goal: GoalAnswer }) {
  return (
    <section class="card">
      <h3>How the two gates decide</h3>
      <div class="scroll">
        <table class="goal-matrix">
          <caption>
            {row === null ? 'No row applies yet: the run is not judged.' : `This run: ${row}.`} A worse status that the
            run's own blocks claimed stays as it is.
          </caption>
          <thead>
            <tr>
              <th scope="col">Goal gate</th>
              {TRUSTS.map((trust) => (
                <th key={trust} scope="col">
                  Trust gate {trust === 'PASS' ? 'passes' : 'fails'}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {goalMatrix(row).map(({ goal, cells }) => (
              <tr key={goal}>
                <th scope="row">{GOAL_WORDS[goal] ?? goal}</th>
                {cells.map((cell) => (
                  <Cell key={cell.trust} cell={cell} final={final_status} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const GOAL_WORDS: Readonly<Record<string, string>> = {
  MET: 'met',
  NOT_MET: 'not met',
  BLOCKED: 'blocked',
  NO_CONTRACT: 'no contract',
}

function Cell({ cell, final }: { readonly cell: MatrixCell; readonly final: GoalAnswer['final_status'] }) {
  const { applies, action, without_quality } = cell
  return (
    <td data-applies={applies}>
      <StateMark state={cell.final} isQuiet={!applies} /> <span>{actionWords(action)}</span>
      {without_quality !== undefined && (
        <p class="soft small">
          Quality gate failed: {without_quality.final.toLowerCase()}, {actionWords(without_quality.action)}
        </p>
      )}
      {applies && (
        <p class="goal-applies">
          <strong>◀ this run</strong>
          {final !== null && final !== cell.final && ` ended ${final.toLowerCase()}`}
        </p>
      )}
    </td>
  )
}

/** Every attempt of the lineage that was judged, oldest first, the one that reached it last. */
function GoalAttempts({ goal }: { readonly goal: GoalAnswer }) {
  const { attempts, lastGoalAttempt: last, run_id } = goal
  const rows = last === null || attempts.some((one) => one.run_id === last.run_id) ? attempts : [...attempts, last]
  return (
    <section class="card">
      <h3>Attempts at this goal</h3>
      {rows.length === 0 ? (
        <Empty>None was judged yet. Each is a run of its own; they stand here once they end.</Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                {['Attempt', 'Ended', 'Criteria met', 'Run', 'When'].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={one.run_id}>
                  <td class="numbers">{one.attemptNumber}</td>
                  <td>
                    <StateMark state={one.status} />
                  </td>
                  <td class="numbers">
                    {one.metCount} of {one.totalCount}
                  </td>
                  <td>
                    <a href={hrefOf(['runs', one.run_id, 'goal'])}>
                      <code>{one.run_id}</code>
                    </a>
                    {one.run_id === run_id && ' (this run)'}
                  </td>
                  <td>
                    <Ago at={one.at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
