import type { RouteSchema } from '../shared/api/route-schema.ts'
import { countRequest } from './count-request.ts'
import type { Handler } from './handler.ts'
import { httpHandler, type Route } from './http-handler.ts'

/** The wrapper of every route that changes something: as httpHandler, but its callers' requests are counted. */
export function changeHandler<S extends RouteSchema>(route: Route<S>): Handler {
  return httpHandler({ ...route, guard: (call, world) => countRequest(world, call.principal) })
}
