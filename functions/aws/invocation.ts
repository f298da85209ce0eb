import { isUtf8 } from 'node:buffer'
import { problemHeaders, problemOf } from '../../shared/api/problem.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import { invocationLog } from '../../shared/ports/host.ts'
import { redactTextForLog } from '../../shared/text/redact.ts'
import type { World } from '../../shared/world.ts'
import type { HostContext } from '../handler.ts'
import type { HttpEvent } from '../http-handler.ts'
import { environment } from './core.ts'

/** The part of Lambda's context that is used. */
export interface LambdaContext {
  readonly awsRequestId: string
  getRemainingTimeInMillis(): number
}

/** One call of a handler: what it is given, and the way to let go of it. */
interface Invocation {
  readonly event: unknown
  readonly context: HostContext & { readonly principal?: Principal; readonly signal: AbortSignal }
  end(): void
}

/** Kept for recording the outcome before Lambda ends the function: a second or two are enough. */
const GRACE_MS = 1_500

/**
 * Turns Lambda's (event, context) into ours: the World with a log that names the request and its trace, who calls if anybody was
 * authenticated, and a signal that aborts 1.5 s before the time is up.
 */
export function openInvocation(
  world: World,
  event: unknown,
  lambda: LambdaContext,
  principal: Principal | undefined,
): Invocation {
  const control = new AbortController()
  const left = lambda.getRemainingTimeInMillis() - GRACE_MS
  const timer = setTimeout(() => control.abort(OUT_OF_TIME), Math.max(0, left))
  // The World's ports may be getters that refuse: it is inherited, not copied.
  const log = invocationLog(world.log, { request_id: lambda.awsRequestId, ...xrayFacts() })
  const own: World = Object.create(world, { log: { value: log, enumerable: true } })
  return {
    event: readLambdaEvent(event),
    context: { world: own, signal: control.signal, ...(principal === undefined ? {} : { principal }) },
    end: () => clearTimeout(timer),
  }
}

/**
 * What leaves the function when a handler throws. ASL matches `name`, so it stays; the machine's signals have an empty
 * stack because the machine parses Cause, everybody else because a stack would stand in the execution's history.
 */
export function toLambdaError(thrown: unknown): Error {
  const { name, message } = thrown instanceof Error ? thrown : { name: 'Error', message: String(thrown) }
  const leaving = new Error(thrown instanceof MachineSignal ? message : redactTextForLog(message))
  leaving.name = name
  leaving.stack = ''
  return leaving
}

const OUT_OF_TIME = new Error('the time of this invocation is nearly over')

/** Under the name other loggers of Lambda use. */
function xrayFacts(): { readonly xray_trace_id?: string } {
  const root = xrayTrace()?.root
  return root === undefined ? {} : { xray_trace_id: root }
}

/**
 * API Gateway's REST event as routes read it: path parameters arrive percent-encoded there and decoded from the local
 * server, headers may be null. Anything else (a machine's payload, the schedule's) goes on as it is.
 */
export function readLambdaEvent(event: unknown): unknown {
  if (!isHttpEvent(event)) return event
  return { ...event, headers: event.headers ?? {}, pathParameters: decoded(event.pathParameters) }
}

/** True for an event a route answers. */
export function isHttpEvent(event: unknown): event is HttpEvent & { readonly headers: HttpEvent['headers'] | null } {
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

/** What a route answers (functions/http-handler.ts): API Gateway's shape, with bytes and streams as they are. */
export interface RouteAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | AsyncIterable<string>
}

/** A whole answer as API Gateway's proxy integration takes it. */
interface ProxyAnswer {
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

/** Where X-Ray says this invocation belongs. */
interface XrayTrace {
  /** `1-<8 hex digits>-<24>`, as its console and its queries write it. */
  readonly root: string
  /** 16 hex digits; absent = nobody called. */
  readonly parent?: string
}

/**
 * Lambda sets this value anew for each invocation: `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1`.
 * Undefined where there is none, or none like that.
 */
export function xrayTrace(env: NodeJS.ProcessEnv = environment): XrayTrace | undefined {
  const parts = new Map((env._X_AMZN_TRACE_ID ?? '').split(';').map((part) => splitOnce(part)))
  const root = parts.get('Root') ?? ''
  const parent = parts.get('Parent') ?? ''
  if (!/^1-[0-9a-f]{8}-[0-9a-f]{24}$/.test(root)) return undefined
  return { root, ...(/^[0-9a-f]{16}$/.test(parent) ? { parent } : {}) }
}

function splitOnce(part: string): readonly [string, string] {
  const [name = '', value = ''] = part.trim().split('=')
  return [name, value]
}
