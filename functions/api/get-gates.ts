import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { describeGates } from '../../shared/gates/describe-gates.ts'
import { httpHandler } from '../http-handler.ts'

/** Gates of sluice.yaml are not read yet: none is configured. */
export const handler = httpHandler({
  name: 'get-gates',
  schema: PLACE_ROUTES['get-gates'],
  run: () => ({ json: { configured: [], types: describeGates().map((gate) => ({ ...gate })) } }),
})
