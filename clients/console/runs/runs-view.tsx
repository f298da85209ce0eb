import './runs.css'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type KnownValues, quotedValue } from '../../../shared/search-runs/edit.ts'
import { type ApiProblem, answerOf, api } from '../api.ts'
import { useKeys } from '../parts/keyboard-shortcuts.tsx'
import { DamagedNotice, Empty, ProblemNotice } from '../parts/notice.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { changeQuery, hrefOf, route } from '../route.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { chooseRun, knownValues, mergeRuns, type RunPage, type RunSummary } from './run-list.ts'
import { RunsTable } from './runs-table.tsx'
import { SearchBox } from './search-box.tsx'
import { SearchForm, useFormShown } from './search-form.tsx'
import { Chart, Views } from './views-and-chart.tsx'

/** All runs of the place, newest first, as they come and go, or those that a search finds. */
export function RunsView() {
  const q = searchOf(route.value.query)
  const { runs, damaged, problem, hasOlder, isLoadingOlder, loadOlder, reload } = useRuns(q)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [isFormShown, toggleForm] = useFormShown()
  const [isBulk, setBulk] = useState(false)
  const [isChart, setChart] = useState(false)
  const choose = useCallback((run_id: string) => setChosen((old) => chooseRun(old, run_id)), [])
  const known = useKnown(runs)
  const box = useRef<HTMLInputElement>(null)
  useKeys(
    { key: '/', label: 'Search', run: () => box.current?.select() },
    { key: 'n', label: 'Start a run', run: () => go(hrefOf(['start'])) },
    { key: 'c', label: 'Compare the two chosen runs', run: () => chosen.length === 2 && go(compareHref(chosen)) },
  )
  const isSearch = q !== ''
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
      <search class="stack">
        <SearchBox q={q} known={known} problem={problem} box={box} onSearch={searchFor} />
        <div class="row">
          <button type="button" aria-expanded={isFormShown} onClick={toggleForm}>
            {isFormShown ? 'Hide the form' : 'Search by form'}
          </button>
          <button type="button" aria-expanded={isChart} onClick={() => setChart(!isChart)}>
            {isChart ? 'Hide the chart' : 'Chart'}
          </button>
          <Views q={q} onSearch={searchFor} />
          {isSearch && (
            <>
              <button type="button" onClick={() => searchFor('')}>
                Clear
              </button>
              <button type="button" disabled={problem?.code === 'bad_run_search'} onClick={() => setBulk(true)}>
                Do to all found
              </button>
            </>
          )}
        </div>
        {isFormShown && <SearchForm q={q} known={known} onSearch={searchFor} />}
        {isChart && problem?.code !== 'bad_run_search' && <Chart q={q} labels={known.label ?? []} />}
      </search>
      {isBulk && <BulkDialog q={q} onClose={() => setBulk(false)} />}
      {problem !== undefined && problem.code !== 'bad_run_search' && <ProblemNotice problem={problem} retry={reload} />}
      <DamagedNotice damaged={damaged} />
      {runs === undefined && problem === undefined && <p class="empty">Asking the place for its runs.</p>}
      {runs !== undefined && runs.length === 0 && damaged.length === 0 && (
        <NoRuns isSearch={isSearch} hasOlder={hasOlder} problem={problem} />
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
  readonly isSearch: boolean
  readonly hasOlder: boolean
  readonly problem: ApiProblem | undefined
}

function NoRuns({ isSearch, hasOlder, problem }: NoRunsProps) {
  if (hasOlder)
    return <Empty problem={problem}>None of the runs that were looked at is like that; older ones may be.</Empty>
  if (isSearch || problem !== undefined)
    return <Empty problem={problem}>No run is like that. Clear the search to see all.</Empty>
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

/** What the address asks for; addresses of before named a state, a document and a kind each by itself. */
function searchOf({ q, status, dag, role }: Readonly<Record<string, string>>): string {
  if (q !== undefined) return q
  const terms = { state: status, dag: dag === undefined ? undefined : quotedValue(dag), role }
  return Object.entries(terms)
    .flatMap(([field, value]) => (value ? [`${field}:${value}`] : []))
    .join(' ')
}

/** A search is a step in the history: Back leads to the one before. */
function searchFor(q: string): void {
  const wanted = q.trim() || undefined
  changeQuery({ q: wanted, status: undefined, dag: undefined, role: undefined }, false)
}

/** What runs that were seen have: it is offered while somebody writes. */
function useKnown(runs: readonly RunSummary[] | undefined): KnownValues {
  const seen = useRef<KnownValues>({})
  return useMemo(() => {
    seen.current = knownValues(runs ?? [], seen.current)
    return seen.current
  }, [runs])
}

interface KnownRuns {
  /** Undefined until the first answer came. */
  readonly runs: readonly RunSummary[] | undefined
  /** What is there and cannot be read. */
  readonly damaged: NonNullable<RunPage['damaged']>
  readonly problem: ApiProblem | undefined
  readonly hasOlder: boolean
  readonly isLoadingOlder: boolean
  loadOlder(): Promise<void>
  reload(): void
}

const PAGE = 50
/** The most the server lists at once, and so the most that is kept fresh. */
const MOST = 500
/** The same of a search. */
const MOST_FOUND = 200
/** ms between two questions; a list of hundreds is asked for less often. */
const OFTEN = 2_000
const SELDOM = 6_000

/** The runs a search finds, or all, newest first, kept fresh while the page is seen; older ones on demand. */
function useRuns(q: string): KnownRuns {
  const key = q
  const [list, setList] = useState<List>({ ...NOTHING, key })
  const [older, setOlder] = useState<{ readonly isLoading: boolean; readonly problem?: ApiProblem }>(IDLE)
  const known = list.key === key ? list : { ...NOTHING, key }
  const limit = Math.min(q === '' ? MOST : MOST_FOUND, Math.max(PAGE, known.runs?.length ?? 0))
  const newest = useAnswer(key, () => askRuns(q, { limit }), q !== '' || limit > 2 * PAGE ? SELDOM : OFTEN)
  const page = newest.value
  useEffect(() => {
    if (page !== undefined) setList((old) => afterNewest(old.key === key ? old : { ...NOTHING, key }, page))
  }, [page, key])
  const cursor = useRef(known.cursor)
  cursor.current = known.cursor
  const loadOlder = async () => {
    if (older.isLoading || cursor.current === null) return
    setOlder({ isLoading: true })
    const settled = await askRuns(q, { limit: PAGE, cursor: cursor.current }).then(
      (next) => {
        setList((old) => (old.key === key ? afterOlder(old, next) : old))
        return IDLE
      },
      (problem: ApiProblem) => ({ isLoading: false, problem }),
    )
    setOlder(settled)
  }
  return {
    runs: known.runs,
    damaged: known.damaged,
    problem: newest.problem ?? older.problem,
    hasOlder: known.cursor !== null,
    isLoadingOlder: older.isLoading,
    loadOlder,
    reload: newest.reload,
  }
}

const IDLE = { isLoading: false }

function askRuns(q: string, part: { readonly limit: number; readonly cursor?: string }): Promise<RunPage> {
  if (q === '') return answerOf(api.GET('/api/dag/runs', { params: { query: part } }))
  return answerOf(api.GET('/api/dag/search', { params: { query: { q, ...part } } }))
}

interface List {
  readonly key: string
  readonly runs: readonly RunSummary[] | undefined
  readonly damaged: NonNullable<RunPage['damaged']>
  /** Behind the oldest run that is known. */
  readonly cursor: string | null
}

const NOTHING = { runs: undefined, damaged: [], cursor: null }

/** The cursor of the newest page counts until an older one was loaded. */
function afterNewest(list: List, page: RunPage): List {
  const runs = mergeRuns(list.runs ?? [], page.runs, page.next_cursor === null)
  const hasOlder = list.runs !== undefined && runs.length > page.runs.length
  const { damaged = [] } = page
  const others = hasOlder ? list.damaged.filter(({ run_id }) => damaged.every((one) => one.run_id !== run_id)) : []
  return { ...list, runs, damaged: [...damaged, ...others], cursor: hasOlder ? list.cursor : page.next_cursor }
}

function afterOlder(list: List, page: RunPage): List {
  const known = new Set(list.runs?.map(({ run_id }) => run_id))
  return {
    ...list,
    runs: [...(list.runs ?? []), ...page.runs.filter(({ run_id }) => !known.has(run_id))],
    damaged: [...list.damaged, ...(page.damaged ?? [])],
    cursor: page.next_cursor,
  }
}
