import { useState } from 'preact/hooks'
import { COUNT_FIELDS, type CountBy } from '../../../shared/search-runs/count-fields.ts'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { usdWords } from '../parts/format.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { useAnswer, useChange } from '../parts/use-answer.ts'

interface ViewsProps {
  readonly q: string
  readonly onSearch: (q: string) => void
}

/** Searches with names: one is chosen, the one that is shown is kept, renamed or taken away. */
export function Views({ q, onSearch }: ViewsProps) {
  const { value, problem, reload } = useAnswer('views', () => answerOf(api.GET('/api/dag/views')))
  const change = useChange()
  const views = value?.views ?? []
  const shown = views.find((view) => view.q === q)
  const done = async (what: () => Promise<unknown>) => {
    await change.run(what)
    reload()
  }
  const put = (view: string, body: { readonly q?: string; readonly name?: string }) =>
    done(() => answerOf(api.PUT('/api/dag/views/{view}', { params: { path: { view } }, body })))
  const save = () => {
    const name = prompt('A name for this search: letters, digits, ., _ and -')?.trim()
    if (name) void put(name, { q })
  }
  const rename = (view: string) => {
    const name = prompt(`Another name for "${view}"`, view)?.trim()
    if (name && name !== view) void put(view, { name })
  }
  const remove = (view: string) => {
    if (confirm(`Take the name "${view}" away? No run changes.`))
      void done(() => answerOf(api.DELETE('/api/dag/views/{view}', { params: { path: { view } } })))
  }
  const wrong = change.problem ?? problem
  return (
    <>
      {views.length > 0 && (
        <select
          aria-label="Saved views"
          value={shown?.name ?? ''}
          onChange={({ currentTarget }) => onSearch(views.find(({ name }) => name === currentTarget.value)?.q ?? '')}
        >
          <option value="">Saved views</option>
          {views.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
      {q !== '' && shown === undefined && (
        <button type="button" disabled={change.isBusy} onClick={save}>
          Save as a view
        </button>
      )}
      {shown !== undefined && (
        <>
          <button type="button" disabled={change.isBusy} onClick={() => rename(shown.name)}>
            Rename
          </button>
          <button type="button" disabled={change.isBusy} onClick={() => remove(shown.name)}>
            Delete view
          </button>
        </>
      )}
      {wrong !== undefined && <ProblemNotice problem={wrong} />}
    </>
  )
}

type Page = operations['count-runs']['responses'][200]['content']['application/json']

/** Values that have a colour of their own in the chart; the rest is one. */
const MOST_VALUES = 5
const MOST_DAYS = 31

/** How many runs a search finds and what they cost, by a field over days. */
export function Chart({ q, labels }: { readonly q: string; readonly labels: readonly string[] }) {
  const [by, setBy] = useState<CountBy>('state')
  const [isCost, setCost] = useState(false)
  const { value, problem } = useAnswer(`${by} ${q}`, () =>
    answerOf(api.GET('/api/dag/count', { params: { query: { q, by, over: 'day' } } })),
  )
  const fields: readonly CountBy[] = [
    ...COUNT_FIELDS.filter((field) => field !== 'day'),
    ...labels.filter((label) => !label.includes('=')).map((key): CountBy => `label.${key}`),
  ]
  return (
    <div class="run-chart stack">
      <div class="row">
        <label>
          By
          <select
            value={by}
            onChange={({ currentTarget }) => setBy(fields.find((one) => one === currentTarget.value) ?? 'state')}
          >
            {fields.map((field) => (
              <option key={field} value={field}>
                {field}
              </option>
            ))}
          </select>
        </label>
        <label>
          Show
          <select
            value={isCost ? 'cost' : 'runs'}
            onChange={({ currentTarget }) => setCost(currentTarget.value === 'cost')}
          >
            <option value="runs">how many</option>
            <option value="cost">cost</option>
          </select>
        </label>
      </div>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      {value !== undefined && <Days page={value} isCost={isCost} />}
    </div>
  )
}

function Days({
  page: { counts, counted, damaged, next_cursor },
  isCost,
}: {
  readonly page: Page
  readonly isCost: boolean
}) {
  const amount = ({ runs, usd }: Page['counts'][number]) => (isCost ? usd : runs)
  const words = (sum: number) => (isCost ? usdWords(sum) : sum.toLocaleString('en'))
  const sums = new Map<string, number>()
  for (const one of counts) sums.set(nameOf(one.value), (sums.get(nameOf(one.value)) ?? 0) + one.runs)
  const shown = [...sums]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, MOST_VALUES)
    .map(([name]) => name)
  const names = sums.size > shown.length ? [...shown, OTHERS] : shown
  const days = [...Map.groupBy(counts, ({ day = '' }) => day)].slice(0, MOST_DAYS)
  const totals = days.map(([, all]) => all.reduce((sum, one) => sum + amount(one), 0))
  const most = Math.max(...totals, Number.MIN_VALUE)
  return (
    <>
      <table class="chart-days">
        <caption>
          {counted.toLocaleString('en')} runs are counted
          {next_cursor === null ? '' : ', the newest: older ones are in no bar'}
          {damaged === 0 ? '' : `; ${damaged} could not be read`}. {isCost && 'Costs are as far as prices are known.'}
        </caption>
        <tbody>
          {days.map(([day, all], i) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>
                <div class="chart-bar" style={{ width: `${(100 * (totals[i] ?? 0)) / most}%` }}>
                  {names.map((name, at) => {
                    const part = all
                      .filter(({ value }) => isOf(nameOf(value), name, shown))
                      .reduce((sum, one) => sum + amount(one), 0)
                    return part === 0 ? null : (
                      <span
                        key={name}
                        class={`chart-part part-${at}`}
                        style={{ flexGrow: part }}
                        title={`${name}: ${words(part)}`}
                      />
                    )
                  })}
                </div>
              </td>
              <td class="number-cell numbers">{words(totals[i] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul class="row chart-names">
        {names.map((name, at) => (
          <li key={name}>
            <span class={`chart-part part-${at}`} aria-hidden="true" /> {name}
          </li>
        ))}
      </ul>
    </>
  )
}

const OTHERS = 'others'

function nameOf(value: string | null): string {
  return value ?? 'none'
}

function isOf(value: string, name: string, shown: readonly string[]): boolean {
  return name === OTHERS && !shown.includes(OTHERS) ? !shown.includes(value) : value === name
}
