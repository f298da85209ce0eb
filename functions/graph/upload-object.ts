import { OBJECT_ROUTES } from '../../shared/api/object-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { countUploadBytes } from '../record/storage-quota.ts'

/** The way for a body that is too large for a request: its content is told first, so that its ref is known before it is there. */
export const handler = changeHandler({
  name: 'upload-object',
  schema: OBJECT_ROUTES['upload-object'],
  run: async ({ body, principal: { tenant } }, world) => {
    await countUploadBytes(world, tenant, body.size)
    const ticket = await world.uploads.open(tenant, body)
    return { json: { ref: `objstore://${tenant}/${body.sha256}`, ...ticket, headers: { ...ticket.headers } } }
  },
})
