import type * as z from 'zod'
import { RUN_ROUTES, type RunSummary } from '../../shared/api/run-routes.ts'
import { RUN_STATES, type RunState, type ShownState } from '../../shared/runs/head.ts'
import { idBeginning } from '../../shared/runs/ids.ts'
import { type DamagedRun, type Meta, type RunFilter, type RunRole, runRole } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { damagedRuns, summaryOf } from '../record/run-summary.ts'

export const handler = httpHandler({
  name: 'list-runs',
  schema: RUN_ROUTES['list-runs'],
  run: async ({ query, principal }, world) => {
    const { runs, damaged, next } = await shownRuns(world, principal.tenant, query)
    return { json: { runs: [...runs], ...damagedRuns(damaged), next_cursor: next ?? null } }
  },
})

type Query = z.output<(typeof RUN_ROUTES)['list-runs']['query']>
interface Shown {
  readonly runs: readonly RunSummary[]
  readonly damaged: readonly DamagedRun[]
  readonly next?: string
}

/** Store reads one request may cost when it asks for what no index knows; then its page is short and the cursor goes on. */
const MAX_READS = 20

/**
 * `running`, `pending`, `paused`, `paused_approval` and `waiting` are one stored state, told apart on read. Each read asks for no more than the page
 * still lacks, so that the store's cursor is right behind the last run shown.
 */
async function shownRuns(world: World, tenant: string, { role, limit, cursor, ...asked }: Query): Promise<Shown> {
  const { status } = asked
  const filter = filterOf(asked)
  const runs: RunSummary[] = []
  const damaged: DamagedRun[] = []
  let after = cursor
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const rest = limit - runs.length
    const page = await world.runs.list(tenant, { ...filter, limit: rest, ...(after === undefined ? {} : { after }) })
    const wanted = page.runs.filter((meta) => role === undefined || isOfRole(meta, role))
    runs.push(...wanted.map(summaryOf).filter((run) => status === undefined || run.state === status))
    damaged.push(...(page.damaged ?? []))
    after = page.next
    if (after === undefined) return { runs, damaged }
    if (runs.length === limit) break
  }
  return { runs, damaged, ...(after === undefined ? {} : { next: after }) }
}

function filterOf({ status, dag, id }: Pick<Query, 'status' | 'dag' | 'id'>): Omit<RunFilter, 'limit' | 'after'> {
  const state = status === undefined ? undefined : isStored(status) ? status : 'running'
  return {
    ...(state === undefined ? {} : { state }),
    ...(dag === undefined ? {} : { dag_name: dag }),
    ...(id === undefined ? {} : { id_begins: idBeginning(id) }),
  }
}

function isStored(status: ShownState): status is RunState {
  return RUN_STATES.some((state) => state === status)
}

/** A question has its own role, and is a root or a child besides. */
function isOfRole(meta: Meta, role: RunRole): boolean {
  return runRole(meta) === role || (meta.parent === undefined ? 'root' : 'child') === role
}
