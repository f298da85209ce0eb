import manifest from '../../package.json' with { type: 'json' }
import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'get-health',
  schema: PLACE_ROUTES['get-health'],
  run: () => ({ json: { status: 'ok' as const, version: manifest.version } }),
})
