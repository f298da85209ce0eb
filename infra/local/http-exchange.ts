import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import * as z from 'zod'
import { problemHeaders, problemOf } from '../../shared/api/problem.ts'
import { requireSite } from '../../shared/console/local-access.ts'
import { Fault } from '../../shared/errors.ts'

/**
 * Reads a request body of at most `maxBytes`; more is Fault 413 body_too_large at the first byte too many (or at once
 * when Content-Length says so). What the client still sends is thrown away, so that it gets to read the answer.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
    let bytes = 0
    const refuse = () => {
      request.removeAllListeners('data').resume()
      const message = `Cannot take the body: at most ${maxBytes} bytes are allowed.`
      reject(new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: maxBytes } }))
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse()
    request.on('data', (chunk: Buffer) => {
      if (bytes + chunk.byteLength > maxBytes) return refuse()
      body = withRoom(body, bytes + chunk.byteLength)
      bytes += chunk.copy(body, bytes)
    })
    request.on('end', () => resolve(body.subarray(0, bytes)))
    request.on('error', reject)
    request.on('close', () => reject(new Error('the client went away')))
  })
}

const FIRST_BYTES = 8_192

/** One buffer that grows, and no list of chunks: a body sent byte by byte would be a million of them. */
function withRoom(body: Buffer, bytes: number): Buffer {
  if (bytes <= body.byteLength) return body
  const larger = Buffer.allocUnsafe(Math.max(bytes, body.byteLength * 2))
  body.copy(larger)
  return larger
}

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

/** Of an answer that nobody is sent: a stream gives back what it holds once it has begun. */
export async function dropBody({ body }: Answer): Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array) return
  const pieces = body[Symbol.asyncIterator]()
  await pieces.next()
  await pieces.return?.()
}

const BegunSchema = z.looseObject({ run_id: z.string() })

/**
 * What is told instead of an answer to a change where the disk refuses what was decided: that it may be done all the same,
 * once the disk takes it and unless this process ends before, and which run that is (docs/adr/0083).
 */
export function mayBeDoneLater(cause: unknown, { statusCode, body }: Answer): unknown {
  if (!(cause instanceof Fault) || statusCode >= 400) return cause
  const { data } = BegunSchema.safeParse(
    typeof body === 'string' && body.startsWith('{') ? JSON.parse(body) : undefined,
  )
  const what = data === undefined ? 'What was asked for may be done' : `Run "${data.run_id}" may begin`
  const message = `${cause.message} ${what} all the same, once the disk takes it: look before you ask again, or ask with the same Idempotency-Key.`
  const facts = data === undefined ? cause.facts : { ...cause.facts, may_begin: data.run_id }
  return new Fault(cause.name, cause.code, message, { facts, cause })
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

/** Requests of one connection that may wait; who sends more without reading is not waiting for answers. */
const MAX_WAITING = 100

/**
 * Runs the requests of each connection one after the other, as HTTP answers them anyway: together they would all hold
 * their answers for a client that reads none (64 KiB of requests ask for gigabytes). A connection with more than 100
 * waiting is closed, and what waits on a closed one is not run.
 */
export function takeRequestsInTurn(): (socket: Socket, run: () => Promise<void>) => void {
  const lines = new WeakMap<Socket, { last: Promise<void>; waiting: number }>()
  return (socket, run) => {
    const line = lines.get(socket) ?? { last: Promise.resolve(), waiting: 0 }
    lines.set(socket, line)
    line.waiting += 1
    if (line.waiting > MAX_WAITING) socket.destroy()
    line.last = line.last.then(async () => {
      if (!socket.destroyed) await run()
      line.waiting -= 1
    })
  }
}

/** Refuses a request that a web page of another site makes, or under another name (shared/console/local-access.ts has the rule). */
export function requireSameOrigin({ headers, socket, url = '/' }: IncomingMessage): void {
  requireSite({ port: socket.localPort ?? 0, host: headers.host, origin: headers.origin, ...askedBy(headers, url) })
}

function askedBy(headers: IncomingMessage['headers'], url: string) {
  return { site: headers['sec-fetch-site'], path: url.split('?')[0] ?? '/' }
}
