import { type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { safeOneLine } from '../../shared/text/redact.ts'
import { MCP_LIMITS } from '../../shared/tools/mcp-answers.ts'
import { type McpChannel, NoAnswer, type Trouble } from './connection.ts'

interface Server {
  readonly url: string
  /** Names in small letters, with the keys in them. */
  readonly headers: Readonly<Record<string, string>>
  /** Those keys. */
  readonly secrets: readonly string[]
}

/**
 * A channel of streamable HTTP for one connection. Requests go to the address of the settings and nowhere else: a redirect
 * is refused, so keys are sent to nobody but whom the operator named. Answers are cut off at MCP_LIMITS.answer_bytes each,
 * and at twice that in all. No stream stands open beside requests.
 */
export function httpChannel(
  { url, headers, secrets }: Server,
  signal: AbortSignal,
): McpChannel & { end(): Promise<void> } {
  let trouble: Trouble | undefined
  let bytes = 0
  const count = (more: number) => {
    bytes += more
    return bytes
  }
  const noted = (seen: Trouble, cause?: unknown): NoAnswer => {
    trouble ??= seen
    return new NoAnswer(seen, cause)
  }
  const guarded: FetchLike = async (address, init = {}) => {
    if (String(address) !== url) throw noted({ kind: 'rejected', words: 'it sends the client to another address' })
    const given = new Headers(init.headers)
    // Of the optional stream for what a server says by itself. Streams that broke off are gone on with.
    if (init.method === 'GET' && !given.has('last-event-id')) return new Response(null, { status: 405 })
    trouble = undefined
    for (const [name, value] of Object.entries(headers)) given.set(name, value)
    given.set('user-agent', 'sluice')
    const signals = AbortSignal.any([signal, ...(init.signal instanceof AbortSignal ? [init.signal] : [])])
    const response = await fetch(url, { ...plain(init), headers: given, redirect: 'manual', signal: signals }).catch(
      (error: unknown) => {
        throw noted(networkTrouble(error), error)
      },
    )
    const refused = statusTrouble(response)
    if (refused !== undefined) {
      response.body?.cancel().catch(() => undefined)
      throw noted(refused)
    }
    return withBody(response, limited(response.body, count, noted))
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: guarded,
    redirectPolicy: 'follow',
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 2_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
  })
  const ends = { told: () => undefined as undefined }
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    // Of the request that is sent now: its stream may end when the next one is under way.
    const { told } = ends
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.()
      told()
    }
    return send(message, { ...options, onRequestStreamEnd })
  }
  return {
    transport,
    trouble: () => trouble,
    ends,
    secrets,
    // Servers keep a session until somebody ends it.
    end: () => transport.terminateSession().catch(() => undefined),
  }
}

function plain({ method, body }: RequestInit): RequestInit {
  return { ...(method === undefined ? {} : { method }), ...(body === undefined ? {} : { body }) }
}

/** A Response that fetch did not make has no address; nobody asks it for one. */
function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array> | null): Response {
  const empty = status === 204 || status === 205 || status === 304
  return new Response(empty ? null : body, { status, statusText, headers: withoutLength(headers) })
}

/** It is unpacked by now. */
function withoutLength(headers: Headers): Headers {
  const left = new Headers(headers)
  for (const name of ['content-length', 'content-encoding']) left.delete(name)
  return left
}

function limited(
  body: ReadableStream<Uint8Array> | null,
  count: (more: number) => number,
  noted: (seen: Trouble, cause?: unknown) => NoAnswer,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null
  const reader = body.getReader()
  const most = MCP_LIMITS.answer_bytes
  let own = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        own += value.byteLength
        if (own > most || count(value.byteLength) > 2 * most) {
          reader.cancel().catch(() => undefined)
          throw noted({ kind: 'broken', words: `its answer is larger than ${most} bytes` })
        }
        controller.enqueue(value)
      } catch (error) {
        controller.error(error instanceof NoAnswer ? error : noted(networkTrouble(error), error))
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function statusTrouble({ status, headers }: Response): Trouble | undefined {
  const words = `it answered HTTP ${status}`
  if (status >= 300 && status < 400) {
    return {
      kind: 'rejected',
      words: `${words}, a redirect, which is not followed: write the address it leads to under url`,
    }
  }
  if (status === 401 || status === 403 || status === 407) return { kind: 'refused', words }
  if (status === 429 || status === 503) return { kind: 'busy', words, ...retryAfter(headers.get('retry-after')) }
  return status === 502 || status === 504 ? { kind: 'broken', words } : undefined
}

/** A day: whoever asks for longer is asked again sooner. */
const MOST_RETRY_MS = 86_400_000

function retryAfter(told: string | null): Pick<Trouble, 'retry_after_ms'> {
  if (told === null || !/^\d{1,9}$/.test(told)) return {}
  return { retry_after_ms: Math.min(Number(told) * 1_000, MOST_RETRY_MS) }
}

/** Nothing of a request was sent. */
const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|.*_CERT.*|ERR_TLS.*|ERR_SSL.*)$/

function networkTrouble(error: unknown): Trouble {
  const code = codeOf(error)
  const words = `the connection failed (${code ?? safeOneLine(rootOf(error), 120)})`
  return { kind: code !== undefined && UNREACHABLE.test(code) ? 'unreachable' : 'broken', words }
}

function codeOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 3) return undefined
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : codeOf(error.cause, depth + 1)
}

function rootOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return 'no reason given'
  return error.cause instanceof Error && depth < 3 ? rootOf(error.cause, depth + 1) : error.message
}
