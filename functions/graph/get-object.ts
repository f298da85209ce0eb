import { isUtf8 } from 'node:buffer'
import { OBJECT_ROUTES } from '../../shared/api/object-routes.ts'
import { asDownload, httpHandler } from '../http-handler.ts'

/** Bodies come from anywhere: the wrapper's headers keep a browser from running one as a page. */
export const handler = httpHandler({
  name: 'get-object',
  schema: OBJECT_ROUTES['get-object'],
  run: async ({ params: { sha256 }, principal: { tenant } }, world) => {
    const body = await world.objects.get(tenant, `objstore://${tenant}/${sha256}`)
    const media_type = isText(body) ? 'text/plain; charset=utf-8' : 'application/octet-stream'
    return {
      body,
      media_type,
      headers: { etag: `"${sha256}"`, ...asDownload(isText(body) ? `${sha256}.txt` : sha256) },
    }
  },
})

function isText(body: Uint8Array): boolean {
  return isUtf8(body) && !body.includes(0)
}
