import { BULK_ROUTES, showBulk } from '../../shared/api/bulk-routes.ts'
import { BULK_LIMITS, type Bulk, newBulkId } from '../../shared/runs/bulk.ts'
import { requireQuery } from '../../shared/search-runs/query.ts'
import { findRuns } from '../../shared/search-runs/search.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { requireScope } from './bulk-rights.ts'

const SHOWN = 20

/** Freezes the list: what is done later is done to these runs alone, whatever the search finds by then. */
export const handler = changeHandler({
  name: 'plan-bulk',
  schema: BULK_ROUTES['plan-bulk'],
  run: async ({ principal, body: { action, q, reason, labels } }, world) => {
    requireScope(principal, action)
    const now = world.clock.now()
    const { found, more } = await findAll(world, principal.tenant, q, now)
    const bulk: Bulk = {
      tenant: principal.tenant,
      bulk_id: newBulkId(now, world.ids.random(10)),
      version: 1,
      action,
      q,
      ...(reason === undefined ? {} : { reason }),
      ...(labels === undefined ? {} : { labels }),
      by: principal,
      planned_at: new Date(now).toISOString(),
      count: found.length,
      ...(more ? { more } : {}),
      state: 'planned',
      next: 0,
      done: 0,
      refused: 0,
    }
    await world.runs.putBulk(
      bulk,
      found.map(({ facts }) => facts.run_id),
    )
    const first = found.slice(0, SHOWN).map(({ facts: { run_id, dag_name, state, created_at, starter } }) => ({
      run_id,
      dag_name,
      state,
      created_at,
      starter,
    }))
    return { json: { bulk: showBulk(bulk), first } }
  },
})

/** `more`: a search that looked at as many runs as it may, or found more than a bulk takes. */
async function findAll({ runs }: Pick<World, 'runs'>, tenant: string, q: string, now: number) {
  const query = requireQuery(q, now)
  const { found, next } = await findRuns(runs, tenant, query, { limit: BULK_LIMITS.runs, now })
  const further = next === undefined ? undefined : await findRuns(runs, tenant, query, { limit: 1, before: next, now })
  // A part that ends early may have nothing behind it: a look further tells.
  return { found, more: further !== undefined && (further.found.length > 0 || further.next !== undefined) }
}
