import manifest from '../../package.json' with { type: 'json' }
import { type AuthMode, openApi } from '../../shared/api/openapi.ts'
import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { httpHandler } from '../http-handler.ts'

const made = new Map<AuthMode, ReturnType<typeof openApi>>()

export const handler = httpHandler({
  name: 'get-openapi',
  schema: PLACE_ROUTES['get-openapi'],
  run: ({ principal }, { settings }) => {
    // Without the setting it is the place's own way: who asks has just gone it.
    const mode = settings.auth?.mode ?? (principal.kind === 'iam' ? 'iam' : 'none')
    const document = made.get(mode) ?? openApi(manifest.version, mode)
    made.set(mode, document)
    return { json: document }
  },
})
