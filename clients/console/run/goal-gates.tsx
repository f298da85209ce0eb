import { StateMark } from '../parts/state-mark.tsx'
import type { GoalAnswer } from './goal-answer.ts'

interface Gate {
  readonly title: string
  readonly state: string
  readonly figure: string
  readonly words: string
  /** What the bar below it shows; absent = nothing to measure. */
  readonly bar?: { readonly label: string; readonly value: number; readonly max: number }
}

/** The two gates beside each other, the quality gate, and what they make of the run together. */
export function GoalGates({ goal }: { readonly goal: GoalAnswer }) {
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
