import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import type { ApiProblem } from '../api.ts'
import { DamagedNotice, Empty, ProblemNotice } from '../parts/notice.tsx'
import { useKeys } from '../place/keys.ts'
import { hrefOf, route } from '../route.ts'
import { chooseRun } from './known-runs.ts'
import { RunFilters, readFilter } from './run-filters.tsx'
import { RunsTable } from './runs-table.tsx'
import { useRuns } from './use-runs.ts'
import './runs.css'

/** All runs of the place, newest first, as they come and go. */
export function RunsView() {
  const filter = readFilter(route.value.query)
  const isFiltered = Object.keys(filter).length > 0
  const { runs, damaged, problem, hasOlder, isLoadingOlder, loadOlder, reload } = useRuns(filter)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const choose = useCallback((run_id: string) => setChosen((old) => chooseRun(old, run_id)), [])
  const names = useMemo(() => [...new Set(runs?.map(({ dag_name }) => dag_name))].sort(), [runs])
  const first = useRef<HTMLInputElement>(null)
  useKeys(
    { key: '/', label: 'Filter by DAG', run: () => first.current?.select() },
    { key: 'n', label: 'Start a run', run: () => go(hrefOf(['start'])) },
    { key: 'c', label: 'Compare the two chosen runs', run: () => chosen.length === 2 && go(compareHref(chosen)) },
  )
  return (
    <section class="page stack">
      <div class="title-row">
        <h1>Runs</h1>
        <div class="row">
          <CompareChosen chosen={chosen} />
          <a class="button primary-link" href={hrefOf(['start'])}>
            Start a run
          </a>
        </div>
      </div>
      <RunFilters names={names} first={first} />
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      <DamagedNotice damaged={damaged} />
      {runs === undefined && problem === undefined && <p class="empty">Asking the place for its runs.</p>}
      {runs !== undefined && runs.length === 0 && damaged.length === 0 && (
        <NoRuns isFiltered={isFiltered} problem={problem} />
      )}
      {runs !== undefined && runs.length > 0 && <RunsTable runs={runs} chosen={chosen} onChoose={choose} />}
      {hasOlder && (
        <button type="button" disabled={isLoadingOlder} onClick={() => void loadOlder()}>
          Older runs
        </button>
      )}
    </section>
  )
}

function CompareChosen({ chosen }: { readonly chosen: readonly string[] }) {
  if (chosen.length === 0) return null
  if (chosen.length === 1) return <span class="soft small">Choose one more run to compare</span>
  return (
    <a class="button" href={compareHref(chosen)}>
      Compare the two chosen
    </a>
  )
}

/** The one chosen first is on the left. */
function compareHref(chosen: readonly string[]): string {
  return hrefOf(['compare', ...chosen])
}

interface NoRunsProps {
  readonly isFiltered: boolean
  readonly problem: ApiProblem | undefined
}

function NoRuns({ isFiltered, problem }: NoRunsProps) {
  if (isFiltered || problem !== undefined)
    return <Empty problem={problem}>No run is like that. Clear the filters to see all.</Empty>
  return (
    <div class="card stack first-run">
      <p>No run was started here yet. Each run shows up as soon as it begins. Start the example from a terminal:</p>
      <pre>npx sluice run start --example basic</pre>
      <p>
        or <a href={hrefOf(['start'])}>start one from this page</a>.
      </p>
    </div>
  )
}

function go(href: string): void {
  location.hash = href
}
