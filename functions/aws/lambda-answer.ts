import { isUtf8 } from 'node:buffer'
import { problemHeaders, problemOf } from '../../shared/api/problem.ts'
import { Fault } from '../../shared/errors.ts'

/** What a route answers (functions/http-handler.ts): API Gateway's shape, with bytes and streams as they are. */
export interface RouteAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | AsyncIterable<string>
}

/** A whole answer as API Gateway's proxy integration takes it. */
export interface ProxyAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isBase64Encoded: boolean
}

/** Lambda's quota for an answer is 6 MB of JSON text; what is left is for headers. */
const MAX_TEXT_BYTES = 6_000_000

/**
 * The answer of a route that does not stream. Bytes that are UTF-8 go as text, so that API Gateway needs no list of
 * binary types for them; other bytes as base64. One too large for Lambda is a problem that says so (413).
 */
export function proxyAnswer({ statusCode, headers, body }: RouteAnswer): ProxyAnswer {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return problem(streamsElsewhere())
  const isBase64Encoded = typeof body !== 'string' && !isUtf8(body)
  const text = typeof body === 'string' ? body : Buffer.from(body).toString(isBase64Encoded ? 'base64' : 'utf8')
  // Quotes and control characters are escaped on the way: measured as they travel.
  const bytes = Buffer.byteLength(JSON.stringify(text))
  if (bytes > MAX_TEXT_BYTES) return problem(tooLarge(bytes))
  return { statusCode, headers, body: text, isBase64Encoded }
}

function problem(fault: Fault): ProxyAnswer {
  const { status, ...rest } = problemOf(fault)
  const body = JSON.stringify({ status, ...rest })
  return { statusCode: status, headers: problemHeaders(fault), body, isBase64Encoded: false }
}

function tooLarge(bytes: number): Fault {
  const message = `Cannot send this answer: it has ${bytes} bytes, at most ${MAX_TEXT_BYTES} go through Lambda. Read it by its object ref from the bucket.`
  return new Fault('LimitExceeded', 'answer_too_large', message, { status: 413, facts: { max_bytes: MAX_TEXT_BYTES } })
}

function streamsElsewhere(): Fault {
  const message = 'Cannot send a stream: the catalog line of this route lacks `stream`.'
  return new Fault('Bug', 'stream_not_listed', message)
}
