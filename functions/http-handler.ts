import middy from '@middy/core'
import type * as z from 'zod'
import { problemHeaders, problemOf } from '../shared/api/problem.ts'
import type { RouteSchema } from '../shared/api/route-schema.ts'
import { requireCaller } from '../shared/auth/require-caller.ts'
import type { Principal } from '../shared/principal.ts'
import type { World } from '../shared/world.ts'
import type { Handler, HostContext } from './handler.ts'
import { type HttpEvent, type ParsedRequest, parseRequest } from './http-request.ts'
import { noteInvocation } from './note-invocation.ts'

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
export type Reply<S extends RouteSchema> = { readonly status?: number; readonly headers?: Record<string, string> } & (
  | { readonly json: z.output<S['answer']> | Also<S> }
  | { readonly body: string | Uint8Array | AsyncIterable<string>; readonly media_type: string }
)

type Also<S extends RouteSchema> = S['also'] extends { readonly answer: z.ZodType }
  ? z.output<S['also']['answer']>
  : never

/** `guard` refuses parsed requests by their caller (change-handler.ts). */
export interface Route<S extends RouteSchema> {
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
  const base = middy()
    .before(async (request: { event: unknown; context: unknown }) => {
      const context = request.context as HttpContext
      noteInvocation(context.world, request.event)
      const call = callOf(request.event as HttpEvent, context, route)
      await route.guard?.(call, context.world)
      request.event = call
    })
    .onError((request: { error: unknown; event: unknown; context: unknown }) => {
      const { world } = request.context as HttpContext
      const problem = problemOf(request.error, runIdOf(request.event))
      if (problem.status === 500) logBug(world, route.name, request.error)
      return {
        statusCode: problem.status,
        headers: { ...HEADERS, ...problemHeaders(request.error) },
        body: JSON.stringify(problem),
        isBase64Encoded: false,
      }
    })
  return base.handler(async (call: unknown, context: unknown) => {
    const reply = await route.run(call as Call<S>, (context as HttpContext).world)
    return answerOf(reply, route.schema)
  }) as unknown as Handler
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

function callOf(
  event: HttpEvent,
  context: HttpContext,
  { name, schema }: Pick<Route<RouteSchema>, 'name' | 'schema'>,
): Call<RouteSchema> {
  const principal = requireCaller(context.principal, name)
  const parsed = parseRequest(event, schema, context.world.settings.safety.max_body_bytes)
  return { ...parsed, principal, signal: context.signal ?? NEVER } as Call<RouteSchema>
}

/** The event is the raw request before parsing and the call after it; both know the path. */
function runIdOf(event: unknown): string | undefined {
  const { params, pathParameters } = event as { params?: unknown; pathParameters?: unknown }
  const found = ((params ?? pathParameters) as { run_id?: string } | null | undefined)?.run_id
  return found?.slice(0, 100)
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
