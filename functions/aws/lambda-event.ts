import type { HttpEvent } from '../http-request.ts'

/**
 * API Gateway's REST event as routes read it: path parameters arrive percent-encoded there and decoded from the local
 * server, headers may be null. Anything else (a machine's payload, the schedule's) goes on as it is.
 */
export function readLambdaEvent(event: unknown): unknown {
  if (!isHttp(event)) return event
  return { ...event, headers: event.headers ?? {}, pathParameters: decoded(event.pathParameters) }
}

/** True for an event a route answers. */
export function isHttp(event: unknown): event is HttpEvent & { readonly headers: HttpEvent['headers'] | null } {
  return typeof event === 'object' && event !== null && 'httpMethod' in event
}

function decoded(params: HttpEvent['pathParameters']): HttpEvent['pathParameters'] {
  if (params === null) return null
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decode(value)]))
}

/** What is no percent-encoding is left, and found to be no known name. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
