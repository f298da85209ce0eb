import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { requireCaller } from '../../shared/api/require-caller.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { holdsScope } from '../../shared/auth/scopes.ts'
import {
  exchangeLoginSecret,
  holdsSecret,
  holdsSession,
  loginNeeded,
  loginUrl,
  type PageLogin,
  sessionCookie,
} from '../../shared/console/local-access.ts'
import { Fault } from '../../shared/errors.ts'
import type { Log } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { ROUTES, type RouteLine } from '../../shared/routes.ts'
import { mostBodyBytes } from '../../shared/runs/safety-settings.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import { createConsole } from './console.ts'
import type { Host } from './host.ts'
import {
  type Answer,
  dropBody,
  mayBeDoneLater,
  problemAnswer,
  readBody,
  requireSameOrigin,
  sendAnswer,
  takeRequestsInTurn,
} from './http-exchange.ts'
import { makeLoginSecret, openLoginWithFirstTokens, writeLoginSecret } from './login.ts'
import { takeUpload, uploadHash } from './uploads.ts'

interface ServerParts {
  readonly host: Host
  readonly objects: Pick<ObjectStore, 'put'>
  /** Who calls where no login is asked for. */
  readonly principal: Principal
  /** Whom an Authorization header names, where the settings ask for a login (login.ts). */
  readonly login?: (authorization: string) => Promise<Principal | undefined>
  /** Asked of every call where there is no `login`, if this start made one (login.ts). */
  readonly secret?: string
  readonly log: Log
  /** Waits until everything that may be told is on the disk; undefined: it is. */
  readonly kept: () => Promise<void> | undefined
  readonly safety: Settings['safety']
  /** The folder of the built console; default: this package's own. */
  readonly consoleDir?: string
}

/** A listening server: where it is, and how to end it (streams end, requests in flight get a second). */
interface LocalServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves the routes of the catalog over HTTP on 127.0.0.1 only; port 0 takes any free one. Each request becomes the
 * event API Gateway would make, so that a route cannot tell the places apart. Fault Conflict port_taken.
 */
export async function listen(port: number, parts: ServerParts): Promise<LocalServer> {
  const live = new Set<AbortController>()
  const turn = takeRequestsInTurn()
  const { consoleDir, secret } = parts
  const pages = { session: randomBytes(24).toString('hex'), secret }
  const served = { ...parts, console: createConsole(consoleDir), pages }
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    turn(request.socket, () => serve(request, response, served, live))
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

interface Served extends ServerParts {
  readonly console: ReturnType<typeof createConsole>
  readonly pages: PageLogin
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
  parts: Served,
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

/** For the log: who asks, the route's pattern and its run, never what else a client wrote into the URL. */
interface Seen {
  principal?: string
  route?: string
  run_id?: string
}

/** Either of two routes gives out such an address. */
function requireUploader(caller: Principal | undefined): Principal {
  const isImporting = caller !== undefined && holdsScope(caller.scopes, 'stage:import')
  return requireCaller(caller, isImporting ? 'import-stage' : 'upload-object')
}

async function answerOf(request: IncomingMessage, parts: Served, signal: AbortSignal, seen: Seen): Promise<Answer> {
  requireSameOrigin(request)
  const method = request.method ?? 'GET'
  const [path = '/', query = ''] = splitOnce(request.url ?? '/', '?')
  const entered = exchangeLoginSecret({ port: portOf(request), method, url: request.url ?? '/' }, parts.pages)
  if (entered !== undefined) return entered
  const upload = uploadHash(method, path)
  if (upload !== undefined) {
    const { tenant } = requireUploader(await callerOf(request, parts, seen))
    return takeUpload(request, upload, { objects: parts.objects, tenant })
  }
  const page = await parts.console({ method, path, headers: request.headers })
  if (page !== undefined) {
    seen.route = 'console'
    return withSession(page, request, parts)
  }
  const { line, params } = matchRoute(method, path)
  seen.route = line.path
  if (params?.run_id !== undefined) seen.run_id = params.run_id.slice(0, 40)
  const principal = await callerOf(request, parts, seen, line.signed_by)
  // Of nobody not a byte is read: the route refuses him before it would look.
  const isRead = method !== 'GET' && (principal !== undefined || line.signed_by !== undefined)
  const body = isRead ? await readBody(request, mostBodyBytes(parts.safety, line)) : undefined
  const event = {
    httpMethod: method,
    resource: line.path,
    path,
    pathParameters: params,
    queryStringParameters: query === '' ? null : Object.fromEntries(new URLSearchParams(query)),
    multiValueQueryStringParameters: everyValue(query),
    headers: request.headers,
    ...textOf(body),
    requestContext: {},
  }
  // Every route is made by functions/http-handler.ts, which answers this shape.
  const answer = (await parts.host.invoke(line.name, event, { signal, ...(principal && { principal }) })) as Answer
  return answerWhenKept(line, answer, parts)
}

/** Health is told at once: it says whether the disk takes anything. */
async function answerWhenKept({ name, method }: RouteLine, answer: Answer, { kept }: Served): Promise<Answer> {
  try {
    if (name !== 'get-health') await kept()
    return answer
  } catch (error) {
    await dropBody(answer)
    throw method === 'GET' ? error : mayBeDoneLater(error, answer)
  }
}

function everyValue(query: string) {
  const values = new URLSearchParams(query)
  return query === ''
    ? null
    : Object.fromEntries([...new Set(values.keys())].map((name) => [name, values.getAll(name)]))
}

/** As API Gateway hands bodies over: what is no text in base 64. */
function textOf(body: Buffer | undefined) {
  if (body === undefined) return { body: null, isBase64Encoded: false }
  const isText = isUtf8(body)
  return { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText }
}

/** Where a login is asked for, its credential says how somebody came. Fault 401 login_needed. */
async function callerOf(
  request: IncomingMessage,
  parts: Served,
  seen: Seen,
  signedBy?: string,
): Promise<Principal | undefined> {
  const caller = await provenCaller(request, parts, signedBy)
  if (caller !== undefined) seen.principal = principalName(caller)
  return caller
}

async function provenCaller(
  request: IncomingMessage,
  { login, principal, pages }: Served,
  signedBy?: string,
): Promise<Principal | undefined> {
  const { authorization, cookie } = request.headers
  if (login !== undefined) return login(authorization ?? '')
  if (holdsSession(portOf(request), cookie, pages)) return { ...principal, via: 'console' }
  // A signature is all that who signs can show.
  const isOpen = pages.secret === undefined || signedBy !== undefined || holdsSecret(authorization, pages)
  if (!isOpen) throw loginNeeded(NO_SECRET)
  return principal
}

const NO_SECRET =
  'this place was started with a login, and the call has none of it. Commands of its user find it in the data folder of the folder they stand in; elsewhere set SLUICE_TOKEN to the text of `login-PORT` there'

function portOf({ socket }: IncomingMessage): number {
  return socket.localPort ?? 0
}

/** Where there is a secret, the page alone is no proof: whoever loads it may be anybody. */
function withSession(page: Answer, request: IncomingMessage, { pages }: Served): Answer {
  const isPage = page.headers['content-type']?.startsWith('text/html') === true
  if (!isPage || pages.secret !== undefined) return page
  return { ...page, headers: { ...page.headers, 'set-cookie': sessionCookie(portOf(request), pages) } }
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

interface ServedParts {
  readonly settings: Settings
  readonly host: Host
  readonly world: World
  readonly principal: Principal
  readonly kept: ServerParts['kept']
  /** Folder of the built console; default: the package's own. */
  readonly consoleDir: string | undefined
  /** Nobody calls without what this start makes (login.ts); of no effect where the settings ask for a login already. */
  readonly asks: boolean
}

export interface ServedPlace extends LocalServer {
  /** Where this start made a secret: the address that opens the console, and the file commands read. */
  readonly opened?: { readonly console_url: string; readonly login_file: string }
}

/** The server of a place, with a login where its settings or its start ask for one. */
export async function servePlace(served: ServedParts): Promise<ServedPlace> {
  const { settings, host, world, principal, kept, consoleDir, asks } = served
  const login =
    settings.auth === undefined ? undefined : await openLoginWithFirstTokens({ settings, host, world, principal })
  const secret = asks && login === undefined ? makeLoginSecret() : undefined
  const server = await listen(settings.port, {
    host,
    objects: world.objects,
    principal,
    log: world.log,
    kept,
    safety: settings.safety,
    ...(login === undefined ? {} : { login }),
    ...(secret === undefined ? {} : { secret }),
    ...(consoleDir === undefined ? {} : { consoleDir }),
  })
  return secret === undefined ? server : withSecret(server, settings.data_dir, secret)
}

function withSecret(server: LocalServer, dataDir: string, secret: string): ServedPlace {
  const kept = writeLoginSecret(dataDir, Number(new URL(server.url).port), secret)
  return {
    url: server.url,
    opened: { console_url: loginUrl(server.url, secret), login_file: kept.file },
    async close() {
      kept.forget()
      await server.close()
    },
  }
}

interface Matched {
  readonly line: RouteLine
  readonly params: Readonly<Record<string, string>> | null
}

/**
 * Finds the route of a request by the catalog. Fixed words win over parameters. Fault 404 route_not_found, 405
 * method_not_allowed with the allowed methods, 400 bad_path when a segment is not valid percent-encoding.
 */
export function matchRoute(method: string, path: string): Matched {
  const segments = path.split('/').slice(1).map(decodeSegment)
  const here = PATTERNS.filter((pattern) => fits(pattern.segments, segments))
  const found = here.find((pattern) => pattern.line.method === method)
  if (found !== undefined) return { line: found.line, params: paramsOf(found.segments, segments) }
  if (here.length === 0) {
    const message = `Cannot find "${path.slice(0, 200)}": no route has this path. GET /api/openapi.json lists them all.`
    throw new Fault('NotFound', 'route_not_found', message)
  }
  const allow = [...new Set(here.map((pattern) => pattern.line.method))].sort()
  const message = `Cannot ${method} "${path.slice(0, 200)}": this path takes ${allow.join(', ')}.`
  throw new Fault('InvalidInput', 'method_not_allowed', message, { status: 405, facts: { allow } })
}

interface Pattern {
  readonly line: RouteLine
  readonly segments: readonly string[]
}

const PATTERNS: readonly Pattern[] = ROUTES.map((line) => ({ line, segments: line.path.split('/').slice(1) })).sort(
  (a, b) => parameterCount(a) - parameterCount(b),
)

function parameterCount({ segments }: Pattern): number {
  return segments.filter(isParameter).length
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    const seen = segment.slice(0, 100)
    throw new Fault('InvalidInput', 'bad_path', `Cannot read the path: "${seen}" is not valid percent-encoding.`, {
      cause,
    })
  }
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  const open = pattern.at(-1)?.endsWith('+}') ?? false
  if (open ? segments.length < pattern.length : segments.length !== pattern.length) return false
  return pattern.every((part, at) => (isParameter(part) ? segments[at] !== '' : part === segments[at]))
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Readonly<Record<string, string>> | null {
  const params: Record<string, string> = {}
  pattern.forEach((part, at) => {
    if (!isParameter(part)) return
    const rest = part.endsWith('+}')
    params[part.slice(1, rest ? -2 : -1)] = rest ? segments.slice(at).join('/') : (segments[at] ?? '')
  })
  return Object.keys(params).length === 0 ? null : params
}
