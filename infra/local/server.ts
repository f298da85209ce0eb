import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Fault } from '../../shared/errors.ts'
import type { Principal } from '../../shared/principal.ts'
import type { Log, ObjectStore } from '../../shared/world.ts'
import { guardOrigin } from './guard-origin.ts'
import type { Host } from './host.ts'
import { inTurn } from './in-turn.ts'
import { readBody } from './read-body.ts'
import { matchRoute } from './router.ts'
import { type Answer, problemAnswer, sendAnswer } from './send-answer.ts'
import { takeUpload, uploadOf } from './uploads.ts'

interface ServerParts {
  readonly host: Host
  readonly objects: Pick<ObjectStore, 'put'>
  readonly principal: Principal
  readonly log: Log
  readonly maxBodyBytes: number
}

/** A listening server: where it is, and how to end it (streams end, requests in flight get a second). */
export interface LocalServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves the routes of the catalog over HTTP on 127.0.0.1 only; port 0 takes any free one. Each request becomes the
 * event API Gateway would make, so that a route cannot tell the places apart. Fault Conflict port_taken.
 */
export async function listen(port: number, parts: ServerParts): Promise<LocalServer> {
  const live = new Set<AbortController>()
  const turn = inTurn()
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    turn(request.socket, () => serve(request, response, parts, live))
  })
  server.timeout = IDLE_MS
  await bound(server, port)
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`
  return {
    url,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const request of live) request.abort(new Error('the place is closing'))
      server.closeIdleConnections()
      const grace = setTimeout(() => server.closeAllConnections(), GRACE_MS)
      await closed
      clearTimeout(grace)
    },
  }
}

const GRACE_MS = 1_000
/** A connection on which nothing moves for so long is closed; a stream of events has its heartbeat well before. */
const IDLE_MS = 120_000

function bound(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE'
      const why = taken ? 'another program listens there' : (cause.code ?? cause.message)
      const message = `Cannot listen on port ${port} of 127.0.0.1: ${why}. Choose another with --port (0 = any free one).`
      reject(new Fault('Conflict', taken ? 'port_taken' : 'cannot_listen', message, { facts: { port }, cause }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
}

/** Resolves when the answer is out or the client gone; never rejects. */
async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  parts: ServerParts,
  live: Set<AbortController>,
): Promise<void> {
  const control = new AbortController()
  live.add(control)
  response.on('close', () => {
    live.delete(control)
    if (!response.writableFinished) control.abort(new Error('the client went away'))
  })
  const began = performance.now()
  const seen: Seen = {}
  const answer = await answerOf(request, parts, control.signal, seen).catch((error: unknown) => {
    const refused = problemAnswer(error)
    // Who goes away in the middle of a body gets no answer and is no error of ours.
    if (refused.statusCode === 500 && !request.socket.destroyed)
      parts.log.error('request failed', { path: request.url, error: String(error) })
    return refused
  })
  const ms = Math.round(performance.now() - began)
  parts.log.info('request', { method: request.method, ...seen, status: answer.statusCode, ms })
  try {
    // A request that was not read to its end leaves the connection unusable for another one.
    if (!request.complete && request.method !== 'GET') response.setHeader('connection', 'close')
    await sendAnswer(response, answer, control.signal)
    if (!response.closed) await once(response, 'close')
  } catch (error) {
    parts.log.error('answer broke off', { path: request.url, error: String(error) })
    response.destroy()
  }
}

/** For the log: the route's pattern and its run, never what else a client wrote into the URL. */
interface Seen {
  route?: string
  run_id?: string
}

async function answerOf(
  request: IncomingMessage,
  parts: ServerParts,
  signal: AbortSignal,
  seen: Seen,
): Promise<Answer> {
  guardOrigin(request)
  const method = request.method ?? 'GET'
  const [path = '/', query = ''] = splitOnce(request.url ?? '/', '?')
  const upload = uploadOf(method, path)
  if (upload !== undefined) {
    return takeUpload(request, upload, { objects: parts.objects, tenant: parts.principal.tenant })
  }
  const { line, params } = matchRoute(method, path)
  seen.route = line.path
  if (params?.run_id !== undefined) seen.run_id = params.run_id.slice(0, 40)
  const body = method === 'GET' ? undefined : await readBody(request, parts.maxBodyBytes)
  const isText = body === undefined || isUtf8(body)
  const event = {
    httpMethod: method,
    resource: line.path,
    path,
    pathParameters: params,
    queryStringParameters: query === '' ? null : Object.fromEntries(new URLSearchParams(query)),
    headers: request.headers,
    body: body === undefined ? null : body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
    requestContext: {},
  }
  // Every route is made by functions/http-handler.ts, which answers this shape.
  return (await parts.host.invoke(line.name, event, { signal, principal: parts.principal })) as Answer
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
