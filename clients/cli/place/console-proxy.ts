import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { problemHeaders, problemOf } from '../../../shared/api/problem.ts'
import { DECLARED_HEADER } from '../../../shared/auth/declared-client.ts'
import {
  exchangeLoginSecret,
  holdsSession,
  loginNeeded,
  loginUrl,
  type PageLogin,
  requireSite,
} from '../../../shared/console/local-access.ts'
import type { serveConsole } from '../../../shared/console/serve-console.ts'
import { Fault } from '../../../shared/errors.ts'
import { gatewayRefusal } from '../aws/aws-refusal.ts'
import type { Target } from '../server/api.ts'
import { type Reason, Refused } from '../terminal/refused.ts'

interface ProxyParts {
  readonly port: number
  readonly target: Target
  readonly files: ReturnType<typeof serveConsole>
  /** A refusal the person at the terminal should see too. */
  note(problem: { readonly code: string; readonly detail: string }): void
}

interface ConsoleProxy {
  /** Where it is opened, with the secret: whoever has it acts as who started this. */
  readonly url: string
  close(): Promise<void>
}

/**
 * The console on 127.0.0.1, in front of an API somewhere else: the page is answered here, its API calls go there, signed
 * or with the token of whoever started this. The page never sees either. Who only knows the port gets the page and no call
 * (shared/console/local-access.ts). Refused port_taken.
 */
export async function openConsoleProxy(parts: ProxyParts): Promise<ConsoleProxy> {
  const secret = randomBytes(24).toString('base64url')
  const login = { secret, session: randomBytes(24).toString('base64url') }
  const server = createServer((request, response) => void answer(request, response, { ...parts, login }))
  await bound(server, parts.port)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : parts.port
  return {
    url: loginUrl(`http://127.0.0.1:${port}`, secret),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      // A stream of events would never end by itself.
      server.closeAllConnections()
      await closed
    },
  }
}

function bound(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another program listens there' : cause.message
      const detail = `Cannot listen on port ${port} of 127.0.0.1: ${why}. Choose another with --port (0 = any free one).`
      reject(new Refused({ code: 'port_taken', detail }, { cause }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
}

interface Proxied extends ProxyParts {
  readonly login: PageLogin
}

/** Never rejects: what goes wrong is an answer, or, once one has begun, its end. */
async function answer(request: IncomingMessage, response: ServerResponse, parts: Proxied): Promise<void> {
  try {
    const { method = 'GET', headers, url = '/' } = request
    const path = url.split('?')[0] ?? '/'
    const site = headers['sec-fetch-site']
    const port = request.socket.localPort ?? 0
    requireSite({ port, host: headers.host, origin: headers.origin, site, path })
    const page =
      exchangeLoginSecret({ port, method, url }, parts.login) ?? (await parts.files({ method, path, headers }))
    if (page === undefined) return await forward(request, response, parts)
    response.writeHead(page.statusCode, page.headers).end(page.body)
  } catch (error) {
    if (response.headersSent || request.socket.destroyed) return void response.destroy()
    const problem = problemOf(error)
    parts.note(problem)
    // A body that was not read to its end leaves the connection unusable for another request.
    if (!request.complete && request.method !== 'GET') response.setHeader('connection', 'close')
    response.writeHead(problem.status, problemHeaders(error)).end(JSON.stringify(problem))
  }
}

async function forward(request: IncomingMessage, response: ServerResponse, { target, login }: Proxied): Promise<void> {
  const path = request.url ?? '/'
  if (!path.startsWith('/api/')) {
    const message = `Cannot find "${path.slice(0, 200)}": the console is at / and the API below /api/.`
    throw new Fault('NotFound', 'route_not_found', message)
  }
  if (!holdsSession(request.socket.localPort ?? 0, request.headers.cookie, login)) throw loginNeeded(STRANGER)
  await forwardCall(request, response, target)
}

const STRANGER = 'this page was not opened by the address `sluice console` printed, which makes its calls yours'

/** What API Gateway takes at most. */
const MAX_BODY_BYTES = 10_485_760

/**
 * Makes a page's API call at the target and streams the answer back, event by event where it is a stream; the call ends
 * when the page goes away. The request's body is collected first: the signature covers it. Throws Faults.
 */
async function forwardCall(request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const { method = 'GET' } = request
  const read = method === 'GET' || method === 'HEAD' ? undefined : await readBody(request)
  const body = read === undefined || read.byteLength === 0 ? undefined : read
  const url = urlAt(target, request.url ?? '/')
  const signed = await target.sign?.({ method, url, body }).catch((error: unknown) => Promise.reject(faultOf(error)))
  const answer = await fetch(signed?.url ?? url, {
    method,
    redirect: 'manual',
    signal: gone.signal,
    headers: {
      ...passedOn(request),
      [DECLARED_HEADER]: 'console',
      ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
      ...signed?.headers,
    },
    ...(body !== undefined && { body }),
  }).catch((error: unknown) => Promise.reject(unreachable(target, error)))
  await mustBeOurs(answer)
  response.writeHead(answer.status, returned(answer))
  response.flushHeaders()
  if (answer.body === null) return void response.end()
  // The two names of one type: what fetch answers, and what Node's streams take.
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response)
}

/** The path as it came, below the target's own: `..` in any spelling leads out of neither. */
function urlAt(target: Target, path: string): string {
  const url = new URL(`${target.url}${path}`)
  if (url.pathname.startsWith(`${new URL(target.url).pathname.replace(/\/+$/, '')}/api/`)) return url.href
  throw new Fault('InvalidInput', 'bad_path', `Cannot read the path "${path.slice(0, 100)}": it leads out of /api/.`)
}

/** What is too much is read to its end and thrown away, so that the page gets to read the answer. */
async function readBody(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  if (bytes <= MAX_BODY_BYTES) return new Uint8Array(Buffer.concat(chunks))
  const message = `Cannot take the body: at most ${MAX_BODY_BYTES} bytes are allowed.`
  throw new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: MAX_BODY_BYTES } })
}

/** What routes read. Cookies, credentials and addresses of this machine stay here. */
const PASSED = ['accept', 'content-type', 'idempotency-key', 'last-event-id', 'if-none-match'] as const

function passedOn({ headers }: IncomingMessage): Record<string, string> {
  const entries = PASSED.map((name) => [name, headers[name]] as const)
  return Object.fromEntries(
    entries.filter((entry): entry is [(typeof PASSED)[number], string] => typeof entry[1] === 'string'),
  )
}

/** Of one connection, of AWS, or of a body as it was on the wire: fetch() has unpacked it. */
const KEPT_BACK =
  /^(connection|keep-alive|transfer-encoding|content-encoding|content-length|date|via|set-cookie|access-control-.*|x-amz.*|x-cache)$/

function returned({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !KEPT_BACK.test(name)))
}

/** An error that is no problem+json was made before any function of ours was asked: by API Gateway. */
async function mustBeOurs(answer: Response): Promise<void> {
  if (answer.status < 400 || answer.headers.get('content-type')?.includes('problem+json') === true) return
  const text = await answer.text()
  const refusal = gatewayRefusal(answer.status, answer.headers.get('x-amzn-errortype'), jsonOf(text))
  if (refusal !== undefined) throw faultOf(refusal)
  const said = text.replace(/\s+/g, ' ').slice(0, 200)
  const message = `Cannot get an answer: the server says HTTP ${answer.status}, and not as a Sluice server does: ${said}`
  throw new Fault('Unavailable', 'not_sluice', message, { status: 502 })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Who may not call, by its status; the rest is no fault of the page. */
const STATUS: Readonly<Record<string, number>> = {
  no_aws_credentials: 401,
  aws_credentials_expired: 401,
  aws_credentials_refused: 401,
  aws_clock_differs: 401,
  aws_caller_denied: 403,
}

function faultOf(error: unknown): unknown {
  if (!(error instanceof Refused)) return error
  const { code, detail }: Reason = error.reason
  return new Fault('Rejected', code, detail, { status: STATUS[code] ?? 502, cause: error })
}

function unreachable({ url }: Target, cause: unknown): unknown {
  if (cause instanceof DOMException && cause.name === 'AbortError') return cause
  const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause)
  const message = `No Sluice server answers at ${url} (${why}).`
  return new Fault('Unavailable', 'no_server', message, { status: 502, cause })
}
