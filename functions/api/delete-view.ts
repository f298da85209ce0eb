import { VIEW_ROUTES } from '../../shared/api/view-routes.ts'
import { changeHandler } from '../http-handler.ts'

/** Again it changes nothing. */
export const handler = changeHandler({
  name: 'delete-view',
  schema: VIEW_ROUTES['delete-view'],
  run: async ({ params: { view: name }, principal: { tenant } }, { runs }) => {
    await runs.removeView(tenant, name)
    return { json: { name } }
  },
})
