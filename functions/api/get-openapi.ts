import manifest from '../../package.json' with { type: 'json' }
import { openApi } from '../../shared/api/openapi.ts'
import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { httpHandler } from '../http-handler.ts'

let made: ReturnType<typeof openApi> | undefined

export const handler = httpHandler({
  name: 'get-openapi',
  schema: PLACE_ROUTES['get-openapi'],
  run: () => {
    made ??= openApi(manifest.version)
    return { json: made }
  },
})
