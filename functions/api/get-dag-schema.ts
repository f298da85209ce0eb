import { PLAN_ROUTES } from '../../shared/api/document-routes.ts'
import { documentSchema } from '../../shared/document/schema.ts'
import { httpHandler } from '../http-handler.ts'

let made: ReturnType<typeof documentSchema> | undefined

export const handler = httpHandler({
  name: 'get-dag-schema',
  schema: PLAN_ROUTES['get-dag-schema'],
  run: () => {
    made ??= documentSchema()
    return { json: { ...made } }
  },
})
