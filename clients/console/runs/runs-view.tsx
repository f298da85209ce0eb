import './runs.css'
import type { RefObject } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { type ApiProblem, answerOf, api } from '../api.ts'
import { useKeys } from '../parts/keyboard-shortcuts.tsx'
import { DamagedNotice, Empty, ProblemNotice } from '../parts/notice.tsx'
import { lookOf } from '../parts/state-mark.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { changeQuery, hrefOf, route } from '../route.ts'
import { chooseRun, mergeRuns, type RunPage, type RunSummary } from './run-list.ts'
import { RunsTable } from './runs-table.tsx'

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

const STATES = [
  'running',
  'pending',
  'paused_approval',
  'waiting',
  'completed',
  'partial',
  'blocked',
  'failed',
  'cancelled',
  'iterated',
] as const
const ROLES = ['root', 'child', 'research_pipeline'] as const
const ROLE_WORDS = { root: 'started by a caller', child: 'started by a block', research_pipeline: 'research' } as const

/** What the address says of the filters; a word nobody knows is none. */
function readFilter(query: Readonly<Record<string, string>>): RunFilter {
  const status = STATES.find((state) => state === query.status)
  const role = ROLES.find((one) => one === query.role)
  return {
    ...(status === undefined ? {} : { status }),
    ...(role === undefined ? {} : { role }),
    ...(query.dag ? { dag: query.dag } : {}),
  }
}

interface FiltersProps {
  /** Names to offer: of the runs that are known. */
  readonly names: readonly string[]
  readonly first: RefObject<HTMLInputElement | null>
}

/** All of it is in the address. */
function RunFilters({ names, first }: FiltersProps) {
  const { status, dag, role } = route.value.query
  return (
    <search class="row filters">
      <label>
        DAG
        <input
          ref={first}
          type="search"
          list="dag-names"
          placeholder="any name, whole"
          value={dag ?? ''}
          onChange={({ currentTarget }) => changeQuery({ dag: currentTarget.value.trim() || undefined })}
        />
      </label>
      <datalist id="dag-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label>
        State
        <select
          value={status ?? ''}
          onChange={({ currentTarget }) => changeQuery({ status: currentTarget.value || undefined })}
        >
          <option value="">any</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {lookOf(state).sign} {lookOf(state).label}
            </option>
          ))}
        </select>
      </label>
      <label>
        Kind
        <select
          value={role ?? ''}
          onChange={({ currentTarget }) => changeQuery({ role: currentTarget.value || undefined })}
        >
          <option value="">any</option>
          {ROLES.map((one) => (
            <option key={one} value={one}>
              {ROLE_WORDS[one]}
            </option>
          ))}
        </select>
      </label>
      {(status ?? dag ?? role) !== undefined && (
        <button type="button" onClick={() => changeQuery({ status: undefined, dag: undefined, role: undefined })}>
          Clear
        </button>
      )}
    </search>
  )
}

type Query = NonNullable<operations['list-runs']['parameters']['query']>
type RunFilter = Pick<Query, 'status' | 'dag' | 'role'>

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
/** ms between two questions; a list of hundreds is asked for less often. */
const OFTEN = 2_000
const SELDOM = 6_000

/** The runs of a filter, newest first, kept fresh while the page is seen; older ones on demand. */
function useRuns(filter: RunFilter): KnownRuns {
  const key = JSON.stringify(filter)
  const [list, setList] = useState<List>({ ...NOTHING, key })
  const [older, setOlder] = useState<{ readonly isLoading: boolean; readonly problem?: ApiProblem }>(IDLE)
  const known = list.key === key ? list : { ...NOTHING, key }
  const limit = Math.min(MOST, Math.max(PAGE, known.runs?.length ?? 0))
  const newest = useAnswer(key, () => askRuns({ ...filter, limit }), limit > 2 * PAGE ? SELDOM : OFTEN)
  const page = newest.value
  useEffect(() => {
    if (page !== undefined) setList((old) => afterNewest(old.key === key ? old : { ...NOTHING, key }, page))
  }, [page, key])
  const cursor = useRef(known.cursor)
  cursor.current = known.cursor
  const loadOlder = async () => {
    if (older.isLoading || cursor.current === null) return
    setOlder({ isLoading: true })
    const settled = await askRuns({ ...filter, limit: PAGE, cursor: cursor.current }).then(
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

function askRuns(query: Query): Promise<RunPage> {
  return answerOf(api.GET('/api/dag/runs', { params: { query } }))
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
