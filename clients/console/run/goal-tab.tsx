import { useEffect } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { useAnswer } from '../use-answer.ts'
import type { GoalAnswer } from './goal-answer.ts'
import { GoalAttempts } from './goal-attempts.tsx'
import { GoalCriteria } from './goal-criteria.tsx'
import { GoalGates } from './goal-gates.tsx'
import { GoalMatrix } from './goal-matrix.tsx'
import { GoalPivot } from './goal-pivot.tsx'
import type { TabProps } from './tab-props.ts'
import './goal.css'

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
