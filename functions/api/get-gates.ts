import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { configuredGates } from '../../shared/document/task-gates.ts'
import { describeGates } from '../../shared/gates/explain.ts'
import { httpHandler } from '../http-handler.ts'

/** The gates of tasks that are configured, each with the pipelines that use it, beside every type there is. */
export const handler = httpHandler({
  name: 'get-gates',
  schema: PLACE_ROUTES['get-gates'],
  run: (_call, { settings }) => ({
    json: { configured: [...configuredGates(settings)], types: describeGates().map((gate) => ({ ...gate })) },
  }),
})
