import { VIEW_ROUTES } from '../../shared/api/view-routes.ts'
import { principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { MOST_VIEWS, type SavedView } from '../../shared/runs/views.ts'
import { requireQuery } from '../../shared/search-runs/query.ts'
import { changeHandler } from '../http-handler.ts'

/** Under its new name first: who dies in between leaves both, and asks again. */
export const handler = changeHandler({
  name: 'put-view',
  schema: VIEW_ROUTES['put-view'],
  run: async ({ params: { view: name }, principal, body }, { runs, clock }) => {
    const now = clock.now()
    const { tenant } = principal
    const all = await runs.views(tenant)
    const old = all.find((one) => one.name === name)
    const q = body.q ?? old?.q
    if (q === undefined) throw unknownView(name)
    requireQuery(q, now)
    const to = body.name ?? name
    if (to !== name && all.some((one) => one.name === to)) {
      throw new Fault(
        'Conflict',
        'view_exists',
        `Cannot call view "${name}" "${to}": there is another one of that name.`,
      )
    }
    if (old === undefined && all.length >= MOST_VIEWS) {
      const message = `Cannot keep view "${to}": there are ${all.length}, and at most ${MOST_VIEWS} are kept. Delete some first.`
      throw new Fault('LimitExceeded', 'too_many_views', message, { status: 409 })
    }
    const view: SavedView = { name: to, q, by: principalName(principal), at: new Date(now).toISOString() }
    await runs.putView(tenant, view)
    if (to !== name) await runs.removeView(tenant, name)
    return { json: view }
  },
})

function unknownView(name: string): Fault {
  const message = `Cannot find view "${name}": there is no such view. \`sluice view list\` shows those there are.`
  return new Fault('NotFound', 'unknown_view', message)
}
