import { ERASURE_ROUTES, showMark } from '../../shared/api/erasure-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { requireMarked } from './run-family.ts'

export const handler = httpHandler({
  name: 'get-erasure',
  schema: ERASURE_ROUTES['get-erasure'],
  run: async ({ params, principal }, world) => {
    const run = { tenant: principal.tenant, run_id: params.run_id }
    return { json: showMark(run.run_id, await requireMarked(world, run)) }
  },
})
