import { OBJECT_ROUTES } from '../../shared/api/object-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { takeUploadBytes } from '../record/storage.ts'

export const handler = changeHandler({
  name: 'put-object',
  schema: OBJECT_ROUTES['put-object'],
  run: async ({ body, principal: { tenant } }, world) => {
    await takeUploadBytes(world, tenant, body.byteLength)
    const { ref, sha256, bytes } = await world.objects.put(tenant, body)
    return { json: { ref, sha256, size: bytes } }
  },
})
