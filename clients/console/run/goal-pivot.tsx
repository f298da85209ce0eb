import { useState } from 'preact/hooks'
import { hrefOf } from '../route.ts'
import type { GoalAnswer } from './goal-answer.ts'
import { GoalPivotDialog } from './goal-pivot-dialog.tsx'

/** What the next attempt is told, and how it starts or which run it is. Nothing where no attempt is to follow. */
export function GoalPivot({ goal }: { readonly goal: GoalAnswer }) {
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
