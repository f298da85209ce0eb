import { useEffect, useRef, useState } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { type ApiProblem, answerOf, api } from '../api.ts'
import { useAnswer } from '../use-answer.ts'
import { mergeRuns, type RunPage, type RunSummary } from './known-runs.ts'

type Query = NonNullable<operations['list-runs']['parameters']['query']>
export type RunFilter = Pick<Query, 'status' | 'dag' | 'role'>

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
export function useRuns(filter: RunFilter): KnownRuns {
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
