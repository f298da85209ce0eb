import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { problemHeaders, problemOf } from '../../shared/api/problem.ts'

/** What a route answers: API Gateway's shape, with bytes and streams as they are. */
export interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | AsyncIterable<string>
}

/** The answer of a request that reached no route. */
export function problemAnswer(error: unknown): Answer {
  const problem = problemOf(error)
  return { statusCode: problem.status, headers: problemHeaders(error), body: JSON.stringify(problem) }
}

/** What has no body has no length of one either. */
const BODILESS: ReadonlySet<number> = new Set([204, 304])

/**
 * Writes an answer. A stream is pulled only as fast as the client reads: while the socket is full nothing is asked of
 * it, so a slow client never makes text pile up here. It ends early, without error, when `signal` aborts.
 */
export async function sendAnswer(response: ServerResponse, answer: Answer, signal: AbortSignal): Promise<void> {
  const { statusCode, headers, body } = answer
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const length = String(Buffer.byteLength(body))
    response.writeHead(statusCode, BODILESS.has(statusCode) ? headers : { ...headers, 'content-length': length })
    response.end(body)
    return
  }
  response.writeHead(statusCode, headers)
  response.flushHeaders()
  try {
    for await (const chunk of body) {
      if (!response.write(chunk)) await once(response, 'drain', { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  response.end()
}
