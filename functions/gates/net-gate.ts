import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import * as z from 'zod'
import type { EgressProxy } from '../../shared/egress/proxy.ts'
import type { LimitedAnswer, LimitedRequest, SignedMessage } from '../../shared/gates/gate-ports.ts'
import { MOST_ANSWER_BYTES, MOST_REQUEST_MS } from '../../shared/limits.ts'
import { findService } from '../../shared/services/settings.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Json } from '../../shared/text/json.ts'
import { safeOneLine } from '../../shared/text/redact.ts'
import { proxyEnv, proxyFor } from '../egress/egress.ts'
import { functionHandler } from '../handler.ts'
import { checkedLookup, checkNamed, Refusal, type Resolve, systemResolve } from './checked-lookup.ts'
import { addressProblem, checkTarget, portOf, servicePolicy, type TargetPolicy } from './net-target.ts'

/** What may stand in a header: printable ASCII on one line. */
const header = z.string().regex(/^[\x20-\x7e]{1,500}$/)

const RequestSchema = z
  .strictObject({
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
    url: z.string(),
    timeout_ms: z.int().min(1),
    follow: z.literal(false).exactOptional(),
    body: z.custom<Json>(() => true).exactOptional(),
    signed: z
      .strictObject({
        id: header,
        timestamp: z.int().min(0),
        signature: header,
        text: z.string().max(1_048_576),
      })
      .exactOptional(),
    service: z
      .strictObject({
        name: z.string().min(1).max(64),
        headers: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/), z.string().regex(/^[\x20-\x7e]{0,4200}$/)),
      })
      .exactOptional(),
  })
  .refine(
    ({ method, service }) => service !== undefined || !['PUT', 'PATCH', 'DELETE'].includes(method),
    'a method of services only',
  )

/** The function of http and webhook gates, of webhooks, and of services: it has no right but to log, and reaches nothing the operator did not allow. */
export const handler = functionHandler({
  name: 'net-gate',
  input: RequestSchema,
  async run(request, { settings }, { signal }) {
    const policy = policyOf(request, settings)
    if (policy !== undefined) return limitedRequest(request, { policy, signal })
    return { kind: 'refused', reason: 'the settings of net-gate name no such service' }
  },
})

/** Of a service its own settings, of which nothing is taken from the caller; undefined = there is none of that name. */
function policyOf(
  { service }: LimitedRequest,
  { http_gates, services, port, egress }: Settings,
): TargetPolicy | undefined {
  const policy = { ...http_gates, own_port: port, egress }
  if (service === undefined) return policy
  const named = findService(services, service.name)
  return named === undefined ? undefined : servicePolicy(named, policy)
}

const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])

interface RequestLimits {
  readonly policy: TargetPolicy
  /** How names become addresses; default: the system's way. */
  readonly resolve?: Resolve
  /** Of the function that runs this. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Carries out one request of a gate against anything a document or a model wrote (docs/operate.md, "Gates"). Every
 * target is checked as text, its addresses when they are connected to, and each redirect again; one time limit covers
 * everything. Never throws for what the network does.
 */
export async function limitedRequest(request: LimitedRequest, guard: RequestLimits): Promise<LimitedAnswer> {
  const ms = Math.min(request.timeout_ms, MOST_REQUEST_MS)
  const time = AbortSignal.timeout(ms)
  const signal = guard.signal === undefined ? time : AbortSignal.any([time, guard.signal])
  try {
    return await follow(request, { ...guard, signal })
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', reason: error.message }
    if (time.aborted) return { kind: 'failed', reason: `no whole answer within ${ms} ms` }
    return { kind: 'failed', reason: wordsOf(error) }
  }
}

async function follow(
  request: LimitedRequest,
  guard: RequestLimits & { readonly signal: AbortSignal },
): Promise<LimitedAnswer> {
  const { policy, resolve = systemResolve, signal } = guard
  let url = allowed(request.url, policy)
  for (let redirects = 0; ; redirects += 1) {
    const reply = await sendOnce(url, request, { policy, resolve, signal, proxy: await proxyOf(url, policy, resolve) })
    const isFollowed = request.follow !== false && (request.method === 'GET' || request.method === 'HEAD')
    const next = isFollowed ? nextOf(url, reply) : undefined
    if (next === undefined) return answered(url, reply, request)
    reply.leave()
    if (redirects === MAX_REDIRECTS) throw new Refusal(`more than ${MAX_REDIRECTS} redirects`)
    const target = afterRedirect(next, policy)
    if (url.protocol === 'https:' && target.protocol === 'http:') throw new Refusal('a redirect from https to http')
    url = target
  }
}

/** Whom a request is handed to, once it is one that may be handed on. */
async function proxyOf(url: URL, policy: TargetPolicy, resolve: Resolve): Promise<EgressProxy | undefined> {
  const proxy = policy.egress === undefined ? undefined : proxyFor(url.hostname, policy.egress)
  if (proxy !== undefined) await checkNamed(url, policy, resolve)
  return proxy
}

function allowed(text: string, policy: TargetPolicy): URL {
  const target = checkTarget(text, policy)
  if (target.ok) return target.url
  throw new Refusal(target.reason)
}

function afterRedirect(text: string, policy: TargetPolicy): URL {
  const target = checkTarget(text, policy)
  if (target.ok) return target.url
  throw new Refusal(`a redirect: ${target.reason}`)
}

/** Where a redirect leads, as it is written where it is absolute; undefined when the reply is none. */
function nextOf(url: URL, { status, headers: { location } }: Reply): string | undefined {
  if (location === undefined || !REDIRECTS.has(status)) return undefined
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location
  // The parser takes a backslash for a slash: two of them would begin a host.
  if (/^[\\/]{2}/.test(location)) return `${url.protocol}${location}`
  return URL.parse(location, url.href)?.href ?? location
}

async function answered(url: URL, reply: Reply, { signed, service }: LimitedRequest): Promise<LimitedAnswer> {
  const { href } = url
  if (signed !== undefined) return taken(url, reply)
  const { body, cut } = await reply.read()
  const told = service === undefined ? {} : { headers: headersTold(reply.headers) }
  return {
    kind: 'answered',
    status: reply.status,
    url: href,
    body,
    ...(cut ? { body_cut: true as const } : {}),
    ...told,
  }
}

/** Cookies are for a browser, and mostly secrets. */
function headersTold(headers: http.IncomingHttpHeaders): Readonly<Record<string, string>> {
  const { 'set-cookie': _, ...told } = headers
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat().join(', ')]])),
  )
}

/** What a receiver answers to a message is its status: a body that never ends makes no delivery undone. */
function taken({ href }: URL, { status, headers, leave }: Reply): LimitedAnswer {
  leave()
  const { 'retry-after': retry_after } = headers
  const later = retry_after === undefined ? {} : { retry_after: retry_after.slice(0, 100) }
  return { kind: 'answered', status, url: href, body: '', ...later }
}

/** A code says enough; the words of TLS errors quote what the server sent. */
function wordsOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const said = typeof code === 'string' ? code : safeOneLine(String(message), 100)
  return MEANING[said] ?? `the connection failed (${said})`
}

const MEANING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused (ECONNREFUSED)',
  ECONNRESET: 'the server broke off (ECONNRESET)',
  ENOTFOUND: 'there is no host of that name (ENOTFOUND)',
  ERR_PROXY_TUNNEL: 'the proxy did not let it through (ERR_PROXY_TUNNEL)',
}

const MAX_HEADER_BYTES = 16_384

/** The head of an answer. Its body is read or left: nothing holds the connection open after either. */
interface Reply {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  read(): Promise<Body>
  leave(): void
}

interface Body {
  /** At most 64 KiB, as UTF-8; wrong bytes become U+FFFD. */
  readonly body: string
  readonly cut: boolean
}

interface Wire {
  readonly policy: TargetPolicy
  readonly resolve: Resolve
  readonly signal: AbortSignal
  /** Whom the request is handed to; undefined = it goes straight. */
  readonly proxy?: EgressProxy | undefined
}

/** One request to one checked URL, on a connection of its own, without a redirect. Throws Refusal and network errors. */
async function sendOnce(
  url: URL,
  { method, body, signed, service }: Pick<LimitedRequest, 'method' | 'body' | 'signed' | 'service'>,
  { policy, resolve, signal, proxy }: Wire,
): Promise<Reply> {
  const port = portOf(url)
  const text = signed?.text ?? (body === undefined ? undefined : JSON.stringify(body))
  const sent = text === undefined ? undefined : Buffer.from(text)
  const { Agent, request } = url.protocol === 'https:' ? https : http
  const outgoing = request(url, {
    method,
    headers: {
      ...headersOf(sent),
      ...(signed === undefined ? {} : signedHeaders(signed)),
      ...(service === undefined ? {} : { 'user-agent': 'sluice/1', ...service.headers }),
    },
    // Of its own: no socket of an earlier request, no proxy but the one of the settings.
    agent: new Agent({ keepAlive: false, ...(proxy === undefined ? {} : { proxyEnv: proxyEnv(proxy) }) }),
    ...(proxy === undefined ? { lookup: checkedLookup(port, policy, resolve) } : {}),
    maxHeaderSize: MAX_HEADER_BYTES,
    rejectUnauthorized: true,
    insecureHTTPParser: false,
    signal,
  })
  if (proxy === undefined) checkPeer(outgoing, port, policy)
  // An error after the answer's head is one of the body.
  outgoing.on('error', () => undefined)
  outgoing.end(sent)
  // Its own signal too: a request that was let go of without an error (status 101) says nothing any more.
  const [response] = (await once(outgoing, 'response', { signal })) as [http.IncomingMessage]
  const { statusCode: status = 0, headers } = response
  return { status, headers, read: () => readBody(response), leave: () => outgoing.destroy() }
}

/** Nothing of the caller's: no cookie, no credential, and a body as it is, so that there is nothing to unpack. */
function headersOf(sent: Buffer | undefined): http.OutgoingHttpHeaders {
  const common = { 'user-agent': 'sluice-gate/1', accept: '*/*', 'accept-encoding': 'identity' }
  if (sent === undefined) return common
  return { ...common, 'content-type': 'application/json', 'content-length': sent.byteLength }
}

/** Of Standard Webhooks; nothing else of a caller's ever is a header. */
function signedHeaders({ id, timestamp, signature }: SignedMessage): http.OutgoingHttpHeaders {
  return {
    'user-agent': 'sluice-webhook/1',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
}

/** The last word: whom the socket really reached, before a byte is sent (literal addresses are never looked up). */
function checkPeer(outgoing: http.ClientRequest, port: number, policy: TargetPolicy): void {
  outgoing.once('socket', (socket) => {
    socket.once('connect', () => {
      const problem = addressProblem(socket.remoteAddress ?? '', port, policy)
      if (problem !== undefined) outgoing.destroy(new Refusal(`the connection leads to ${problem}`))
    })
  })
}

async function readBody(response: http.IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    // Leaving the loop closes the connection.
    if (bytes > MOST_ANSWER_BYTES) break
  }
  const body = Buffer.concat(chunks).subarray(0, MOST_ANSWER_BYTES).toString()
  return { body, cut: bytes > MOST_ANSWER_BYTES }
}
