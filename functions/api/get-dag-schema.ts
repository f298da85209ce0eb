import { DOCUMENT_ROUTES } from '../../shared/api/document-routes.ts'
import { documentSchema } from '../../shared/document/json-schema.ts'
import { httpHandler } from '../http-handler.ts'

let made: ReturnType<typeof documentSchema> | undefined

export const handler = httpHandler({
  name: 'get-dag-schema',
  schema: DOCUMENT_ROUTES['get-dag-schema'],
  run: () => {
    made ??= documentSchema()
    return { json: { ...made } }
  },
})
