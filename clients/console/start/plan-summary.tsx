import { usdWords } from '../parts/amount-words.ts'
import type { Plan } from './use-check.ts'

/** What a run will do, as far as it can be known before. */
export function PlanSummary({ plan }: { readonly plan: Plan }) {
  const { blocks, critical_path, width, cost, next_limit, assumptions } = plan
  const { tokens, usd, unpriced } = cost.models
  return (
    <section class="card stack">
      <h2>Plan</h2>
      <dl class="facts">
        <dt>Blocks</dt>
        <dd>
          {blocks}, {width.at_once} at once
          {width.exceeds_max_parallel && `, more than the ${plan.makespan.max_parallel} that may run at once`}
        </dd>
        <dt>Critical path</dt>
        <dd>{critical_path.blocks.join(' → ')}</dd>
        <dt>Tokens of a run</dt>
        <dd class="numbers">{rangeWords(tokens, (value) => value.toLocaleString('en'))}</dd>
        <dt>Models, a run</dt>
        <dd class="numbers">
          {rangeWords(usd, usdWords)}
          {unpriced.length > 0 && `; no price is known for ${unpriced.join(', ')}`}
        </dd>
        <dt>On AWS, 1,000 runs</dt>
        <dd class="numbers">
          {usdWords(cost.orchestration_usd_per_1000_runs)} for orchestration, {usdWords(cost.work_usd_per_1000_runs)}{' '}
          for work ({cost.region}, prices of {cost.as_of})
        </dd>
        <dt>Nearest limit</dt>
        <dd class="numbers">
          {next_limit.name.replaceAll('_', ' ')}: {next_limit.used.toLocaleString('en')} of{' '}
          {next_limit.limit.toLocaleString('en')}
        </dd>
      </dl>
      <details>
        <summary>What this assumes</summary>
        <ul>
          {assumptions.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      </details>
    </section>
  )
}

interface Range {
  readonly low: number
  readonly expected: number
  readonly high: number
}

function rangeWords({ low, expected, high }: Range, words: (value: number) => string): string {
  if (low === high) return words(expected)
  return `about ${words(expected)} (${words(low)} to ${words(high)})`
}
