import * as z from 'zod'
import { problemHeaders, problemOf } from '../shared/api/problem.ts'
import { requireCaller } from '../shared/api/require-caller.ts'
import type { RouteSchema } from '../shared/api/route-schema.ts'
import { DECLARED_HEADER, type Declared, readDeclaredClient } from '../shared/auth/declared-client.ts'
import { type Principal, principalName } from '../shared/auth/principal.ts'
import { Fault } from '../shared/errors.ts'
import { ROUTES } from '../shared/routes.ts'
import { mostBodyBytes } from '../shared/runs/safety-settings.ts'
import { schemaIssues } from '../shared/text/schema-issues.ts'
import { readStrictJson } from '../shared/text/strict-json.ts'
import type { World } from '../shared/world.ts'
import { type Handler, type HostContext, nameInvocationInLog } from './handler.ts'

/** What a host hands to a route besides the request; without a principal the answer is 401. */
interface HttpContext extends HostContext {
  readonly principal?: Principal
}

/** One parsed request. Parts the schema does not have are undefined; header names are in lower case. */
export interface Call<S extends RouteSchema> extends ParsedRequest {
  readonly params: Part<S, 'params'>
  readonly query: Part<S, 'query'>
  readonly body: Part<S, 'body'>
  readonly principal: Principal
  /** Aborted when the client went away or the host gives up. */
  readonly signal: AbortSignal
}
type Part<S extends RouteSchema, K extends 'params' | 'query' | 'body'> = S[K] extends z.ZodType
  ? z.output<S[K]>
  : undefined

/** A route's answer: JSON of its schema, or a body of its own media type (bytes, or text that streams). */
type Reply<S extends RouteSchema> = { readonly status?: number; readonly headers?: Record<string, string> } & (
  | { readonly json: z.output<S['answer']> | Also<S> }
  | { readonly body: string | Uint8Array | AsyncIterable<string>; readonly media_type: string }
)

type Also<S extends RouteSchema> = S['also'] extends { readonly answer: z.ZodType }
  ? z.output<S['also']['answer']>
  : never

/** `guard` refuses parsed requests by their caller. */
interface Route<S extends RouteSchema> {
  readonly name: string
  readonly schema: S
  guard?(call: { readonly principal: Principal }, world: World): Promise<void>
  run(call: Call<S>, world: World): Promise<Reply<S>> | Reply<S>
}

/**
 * The wrapper of every route: principal, guards, strict parsing, then the route; what goes wrong becomes
 * problem+json. Answers `{statusCode, headers, body, isBase64Encoded}` as API Gateway's proxy wants it, but with bytes
 * and streams as they are: the host encodes or streams them.
 */
export function httpHandler<S extends RouteSchema>(route: Route<S>): Handler {
  return async (event, context: HttpContext) => {
    const { world } = context
    try {
      nameInvocationInLog(world, event)
      const call = callOf(event as HttpEvent, context, route)
      await route.guard?.(call, world)
      return answerOf(await route.run(call, world), route.schema)
    } catch (error) {
      return refusalOf(world, route.name, error, runIdOf(event))
    }
  }
}

/**
 * A route whose caller has no credential and proves itself to the function alone (`signed_by` in shared/routes.ts): it reads
 * the request as it came, and answers `status` with what `take` makes of it.
 */
export function openHandler(
  name: string,
  status: number,
  take: (event: HttpEvent, world: World) => Promise<unknown>,
): Handler {
  return async (event, { world }) => {
    try {
      // Both hosts hand a route the event of API Gateway.
      const taken = await take(event as HttpEvent, world)
      return { statusCode: status, headers: HEADERS, body: JSON.stringify(taken), isBase64Encoded: false }
    } catch (error) {
      return refusalOf(world, name, error)
    }
  }
}

function refusalOf(world: World, route: string, error: unknown, run_id?: string) {
  const problem = problemOf(error, run_id)
  if (problem.status === 500) logBug(world, route, error)
  return {
    statusCode: problem.status,
    headers: { ...HEADERS, ...problemHeaders(error) },
    body: JSON.stringify(problem),
    isBase64Encoded: false,
  }
}

/** Nothing answered here may run as a page or be part of another site's: artifacts hold text written by models. */
const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
}

const NEVER = new AbortController().signal

function callOf<S extends RouteSchema>(
  event: HttpEvent,
  context: HttpContext,
  { name, schema }: Pick<Route<S>, 'name' | 'schema'>,
): Call<S> {
  const principal = requireCaller(context.principal, name)
  const line = LINES.get(name)
  const parsed = parseRequest(event, schema, mostBodyBytes(context.world.settings.safety, line))
  // The parts are what the schemas of this route made of the request.
  return { ...parsed, principal, signal: context.signal ?? NEVER } as Call<S>
}

const LINES = new Map(ROUTES.map((line) => [line.name, line]))

function runIdOf(event: unknown): string | undefined {
  return (event as Partial<HttpEvent>).pathParameters?.run_id?.slice(0, 100)
}

function logBug(world: World, route: string, error: unknown): void {
  const stack = error instanceof Error ? error.stack : undefined
  world.log.error('route failed', { route, error: String(error), stack })
}

function answerOf(reply: Reply<RouteSchema>, schema: RouteSchema) {
  const isJson = 'json' in reply
  const body = isJson ? JSON.stringify(reply.json) : reply.body
  const type = isJson ? {} : { 'content-type': reply.media_type }
  return {
    statusCode: reply.status ?? schema.status ?? 200,
    headers: { ...HEADERS, ...type, ...reply.headers },
    body,
    isBase64Encoded: body instanceof Uint8Array,
  }
}

/** Makes a browser save a body that strangers wrote, under its own name, and never show it. */
export function asDownload(name: string): Record<string, string> {
  const last = name.split('/').at(-1) ?? ''
  const plain = last.replace(/[^\w .()+-]/g, '_') || 'download'
  const exact = encodeURIComponent(last).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return { 'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${exact}` }
}

/** The wrapper of every route that changes something: as httpHandler, but its callers' requests are counted. */
export function changeHandler<S extends RouteSchema>(route: Route<S>): Handler {
  return httpHandler({ ...route, guard: (call, world) => countRequest(world, call.principal) })
}

const MINUTE_MS = 60_000

/** Stands for all callers of a tenant: no principal has such a name. */
const EVERYBODY = '*'

/**
 * Counts a request that changes something against its caller's `max_requests_per_min`, and where there is such a cap against
 * that of its tenant, by minutes of the clock: Fault LimitExceeded too_many_requests, too_many_tenant_requests. The caller
 * first, so that one who is over its own does not use up what others have. A store that cannot count lets it pass, since it
 * cannot take the change either, and its own fault says more (docs/adr/0029).
 */
async function countRequest(world: CountingWorld, principal: Principal): Promise<void> {
  const { max_requests_per_min: cap, max_tenant_requests_per_min: shared } = world.settings.safety
  const caller = principalName(principal)
  const { tenant } = principal
  if (!(await isCounted(world, { tenant, caller, cap }))) {
    const message = `Cannot take more requests of ${caller} in this minute: the safety policy allows ${cap} that change something or check a document (max_requests_per_min). Try again in the next one.`
    const facts = { caller, max_requests_per_min: cap, retry_after_ms: untilNextMinute(world) }
    throw new Fault('LimitExceeded', 'too_many_requests', message, { facts })
  }
  if (shared === undefined || (await isCounted(world, { tenant, caller: EVERYBODY, cap: shared }))) return
  const message = `Cannot take more requests of tenant ${tenant} in this minute: the safety policy allows all its callers together ${shared} that change something or check a document (max_tenant_requests_per_min). Try again in the next one.`
  const facts = { max_tenant_requests_per_min: shared, retry_after_ms: untilNextMinute(world) }
  throw new Fault('LimitExceeded', 'too_many_tenant_requests', message, { facts })
}

type CountingWorld = Pick<World, 'runs' | 'settings' | 'clock' | 'log'>

interface Counted {
  readonly tenant: string
  readonly caller: string
  readonly cap: number
}

function isCounted({ runs, clock, log }: CountingWorld, { tenant, caller, cap }: Counted): Promise<boolean> {
  // `2026-11-22T05:06`
  const window = new Date(clock.now()).toISOString().slice(0, 16)
  return runs.countRequest(tenant, caller, window, cap).catch((error: unknown) => {
    log.error('a request was not counted', { caller, error: String(error) })
    return true
  })
}

function untilNextMinute({ clock }: CountingWorld): number {
  return MINUTE_MS - (clock.now() % MINUTE_MS)
}

/** The part of API Gateway's REST proxy event that routes read; the local server makes the same. */
export interface HttpEvent {
  readonly httpMethod: string
  readonly resource?: string
  readonly path: string
  readonly pathParameters: Readonly<Record<string, string>> | null
  readonly queryStringParameters: Readonly<Record<string, string>> | null
  /** Every value of each; the member before has only the last one. */
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[]>> | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly isBase64Encoded: boolean
  readonly requestContext?: unknown
}

/** What a route's schemas made of a request. */
interface ParsedRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly idempotencyKey?: string
  /** What the client says of itself. */
  readonly declared?: Declared
}

/**
 * Checks and parses one request, cheapest guard first: size (413), content type (415), UTF-8, JSON guards, then the
 * strict schemas (400 with at most 20 issues). A malformed path parameter is 404: there is nothing of that name.
 */
function parseRequest(event: HttpEvent, schema: RouteSchema, maxBytes: number): ParsedRequest {
  const headers = lowerCased(event.headers)
  refuseDoubled(event.multiValueQueryStringParameters ?? {})
  const idempotencyKey = headers['idempotency-key']
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    const message = 'Cannot use this Idempotency-Key: 1 to 255 visible ASCII characters are allowed, without spaces.'
    throw new Fault('InvalidInput', 'bad_idempotency_key', message)
  }
  const declared = readDeclaredClient(headers[DECLARED_HEADER])
  return {
    params: readParams(event.pathParameters ?? {}, schema),
    query: readQuery(event.queryStringParameters ?? {}, schema),
    body: schema.body === undefined ? undefined : readBody(event, headers, schema, maxBytes),
    headers,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(declared === undefined ? {} : { declared }),
  }
}

/** API Gateway writes null where there are none, and for one without a value. */
function lowerCased(headers: Readonly<Record<string, string | null>> | null): Record<string, string> {
  const given = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name.toLowerCase(), value] as const],
  )
  return Object.fromEntries(given)
}

/** Of two values one would be taken in silence. */
function refuseDoubled(query: Readonly<Record<string, readonly string[]>>): void {
  const issues = Object.entries(query).flatMap(([path, values]) =>
    values.length < 2
      ? []
      : [{ path: path.slice(0, 100), message: `it is given ${values.length} times`, hint: 'Give it once.' }],
  )
  const [first] = issues
  if (first === undefined) return
  const message = `Cannot read the query: "${first.path}" ${first.message.slice(3)}. ${first.hint}`
  throw new Fault('InvalidInput', 'bad_query', message, { issues: issues.slice(0, 20) })
}

function readParams(params: Readonly<Record<string, string>>, schema: RouteSchema): unknown {
  if (schema.params === undefined) return undefined
  const parsed = schema.params.safeParse(params)
  if (parsed.success) return parsed.data
  const issues = schemaIssues(parsed.error, schema.params)
  const seen = JSON.stringify(String(params[issues[0]?.path ?? ''] ?? '').slice(0, 100))
  const code = issues[0]?.path === 'run_id' ? 'unknown_run' : 'not_found'
  throw new Fault('NotFound', code, `Cannot find ${seen}: ${issues[0]?.message ?? 'not a known name'}.`, { issues })
}

function readQuery(query: Readonly<Record<string, string>>, schema: RouteSchema): unknown {
  if (schema.query !== undefined) return parsePart('query', query, schema.query)
  const [unknown] = Object.keys(query)
  if (unknown === undefined) return undefined
  const issue = { path: unknown, message: `Unknown key "${unknown.slice(0, 100)}"`, hint: 'allowed: nothing' }
  throw new Fault('InvalidInput', 'bad_query', 'Cannot read the query: this route takes none.', { issues: [issue] })
}

function readBody(
  event: HttpEvent,
  headers: Readonly<Record<string, string>>,
  { body: schema = z.unknown(), body_type }: RouteSchema,
  maxBytes: number,
) {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.byteLength > maxBytes) throw tooLarge(bytes.byteLength, maxBytes)
  if (body_type === '*/*') return parsePart('body', bytes, schema)
  if (bytes.byteLength === 0) return parsePart('body', {}, schema)
  checkType(headers['content-type'])
  return parsePart('body', readStrictJson(utf8(bytes)), schema)
}

function tooLarge(bytes: number, maxBytes: number): Fault {
  const message = `Cannot take the body: it has ${bytes} bytes, at most ${maxBytes} are allowed.`
  return new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: maxBytes } })
}

function checkType(type: string | undefined): void {
  if (/^application\/(?:[a-z.+-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type ?? '')) return
  const seen = type === undefined ? 'no Content-Type' : `Content-Type "${type.slice(0, 100)}"`
  const message = `Cannot read the body: it came with ${seen}; send application/json in UTF-8.`
  throw new Fault('InvalidInput', 'unsupported_media_type', message, { status: 415 })
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault('InvalidInput', 'not_utf8', 'Cannot read the body: it is not valid UTF-8.', { cause })
  }
}

function parsePart(part: 'query' | 'body', value: unknown, schema: z.ZodType): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = schemaIssues(parsed.error, schema)
  const first = issues[0]
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  const message = `Cannot read the ${part}: ${where}${first?.message ?? 'it does not fit the schema'}.`
  throw new Fault('InvalidInput', `bad_${part}`, message, { issues })
}
