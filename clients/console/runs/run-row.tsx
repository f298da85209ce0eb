import { useMemo } from 'preact/hooks'
import { usdWords } from '../parts/amount-words.ts'
import { localTimes } from '../parts/local-times.ts'
import { Ago, Elapsed } from '../parts/moment.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { hrefOf } from '../route.ts'
import { lineageOf, type RunSummary } from './known-runs.ts'
import { detailsOf, isLive } from './run-details.ts'

interface RowProps {
  readonly run: RunSummary
  readonly isChosen: boolean
  readonly onChoose: (run_id: string) => void
}

/** One run. Drawn again only when the run or the choice changed: hundreds of rows stay quick. */
export function RunRow({ run, isChosen, onChoose }: RowProps) {
  return useMemo(
    () => (
      <tr data-run={run.run_id} class={isChosen ? 'is-chosen' : undefined}>
        <td class="pick">
          <label>
            <input type="checkbox" checked={isChosen} onChange={() => onChoose(run.run_id)} />
            <span class="visually-hidden">
              Compare {run.dag_name} {run.run_id}
            </span>
          </label>
        </td>
        <td class="state-cell">
          <StateMark state={run.state} />
        </td>
        <th scope="row" class="plain name-cell">
          <a class="row-link" href={hrefOf(['runs', run.run_id, 'graph'])}>
            {run.dag_name}
          </a>
          <code class="soft small" title={run.run_id}>
            {run.run_id.slice(4, 12)}
          </code>
          <LineageSign run={run} />
        </th>
        <Facts run={run} />
        <td class="soft starter-cell" title={run.starter}>
          {run.starter}
        </td>
      </tr>
    ),
    [run, isChosen, onChoose],
  )
}

/** A sign and a word; the link leads to the other run. */
function LineageSign({ run }: { readonly run: RunSummary }) {
  const lineage = lineageOf(run)
  if (lineage === undefined) return null
  const { sign, words, run_id } = lineage
  return (
    <a class="lineage small" href={hrefOf(['runs', run_id, 'graph'])} title={`${words} ${run_id}`}>
      <span aria-hidden="true">{sign}</span> {words.split(' ', 1)[0]}
      <span class="visually-hidden">
        {' '}
        {words} {run_id}
      </span>
    </a>
  )
}

/** What a live run waits for the list does not know: an empty cell until it is there. */
function Facts({ run }: { readonly run: RunSummary }) {
  const details = detailsOf(run.run_id).value
  const words = run.reason ?? details?.words
  const ended_at = run.ended_at ?? details?.ended_at
  return (
    <>
      <td class="words-cell" title={words}>
        <span>{wordsOf(run, words)}</span>
      </td>
      <td class="time-cell">
        <Ago at={run.created_at} />
      </td>
      <td class="number-cell elapsed-cell numbers">
        {(isLive(run) || ended_at !== undefined) && <Elapsed from={run.created_at} to={ended_at} />}
      </td>
      <td class="number-cell tokens-cell numbers">{run.tokens.toLocaleString('en')}</td>
      <td class="number-cell cost-cell numbers" title={usdWords(run.usd, run.unpriced_tokens)}>
        {costCell(run)}
      </td>
    </>
  )
}

function wordsOf(run: RunSummary, words: string | undefined): string {
  if (words !== undefined) return localTimes(words, Date.now())
  return run.pending_approvals > 0 ? 'waiting for a person' : ''
}

/** The column is narrow: what is not known stands in the title. */
function costCell({ usd, unpriced_tokens }: RunSummary): string {
  if (usd === null) return 'unknown'
  return unpriced_tokens === undefined ? usdWords(usd) : `≥ ${usdWords(usd)}`
}
