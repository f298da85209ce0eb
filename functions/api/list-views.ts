import { VIEW_ROUTES } from '../../shared/api/view-routes.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'list-views',
  schema: VIEW_ROUTES['list-views'],
  run: async ({ principal: { tenant } }, { runs }) => ({ json: { views: [...(await runs.views(tenant))] } }),
})
