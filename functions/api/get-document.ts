import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { unknownDocument } from '../../shared/text/wording.ts'
import { httpHandler } from '../http-handler.ts'

/** What a person sees before a start by name: the same text the start will read. */
export const handler = httpHandler({
  name: 'get-document',
  schema: PLACE_ROUTES['get-document'],
  run: async ({ params: { name }, principal }, world) => {
    const text = await world.documents.read(name, 'deployed')
    if (text !== undefined) {
      const paused = await world.runs.startHold(principal.tenant, name)
      return { json: { name, text, ...(paused === undefined ? {} : { paused }) } }
    }
    const message = `Cannot show document "${name}": there is none of that name in this place.`
    throw unknownDocument(name, world.documents.names(), message)
  },
})
