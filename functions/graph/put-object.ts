import { OBJECT_ROUTES } from '../../shared/api/object-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { countUploadBytes } from '../record/storage-quota.ts'

export const handler = changeHandler({
  name: 'put-object',
  schema: OBJECT_ROUTES['put-object'],
  run: async ({ body, principal: { tenant } }, world) => {
    await countUploadBytes(world, tenant, body.byteLength)
    const { ref, sha256, bytes } = await world.objects.put(tenant, body)
    return { json: { ref, sha256, size: bytes } }
  },
})
