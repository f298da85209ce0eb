import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { GuardedRequest, SignedMessage } from '../../shared/gates/gate-ports.ts'
import { addressProblem, portOf, type TargetPolicy } from './check-target.ts'
import { guardedLookup, Refusal, type Resolve } from './guarded-lookup.ts'

/** Bytes of a body that are read; the rest is left on the wire. */
const MAX_BODY_BYTES = 65_536
const MAX_HEADER_BYTES = 16_384

/** The head of an answer. Its body is read or left: nothing holds the connection open after either. */
export interface Reply {
  readonly status: number
  readonly location: string | undefined
  readonly retry_after: string | undefined
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
}

/** One request to one checked URL, on a connection of its own, without a redirect. Throws Refusal and network errors. */
export async function sendOnce(
  url: URL,
  { method, body, signed }: Pick<GuardedRequest, 'method' | 'body' | 'signed'>,
  { policy, resolve, signal }: Wire,
): Promise<Reply> {
  const port = portOf(url)
  const text = signed?.text ?? (body === undefined ? undefined : JSON.stringify(body))
  const sent = text === undefined ? undefined : Buffer.from(text)
  const { Agent, request } = url.protocol === 'https:' ? https : http
  const outgoing = request(url, {
    method,
    headers: { ...headersOf(sent), ...(signed === undefined ? {} : signedHeaders(signed)) },
    // Of its own: no socket of an earlier request, no proxy of the environment.
    agent: new Agent({ keepAlive: false }),
    lookup: guardedLookup(port, policy, resolve),
    maxHeaderSize: MAX_HEADER_BYTES,
    rejectUnauthorized: true,
    insecureHTTPParser: false,
    signal,
  })
  checkPeer(outgoing, port, policy)
  // An error after the answer's head is one of the body.
  outgoing.on('error', () => undefined)
  outgoing.end(sent)
  // Its own signal too: a request that was let go of without an error (status 101) says nothing any more.
  const [response] = (await once(outgoing, 'response', { signal })) as [http.IncomingMessage]
  const { statusCode: status = 0, headers } = response
  const { location, 'retry-after': retry_after } = headers
  return { status, location, retry_after, read: () => readBody(response), leave: () => outgoing.destroy() }
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
    if (bytes > MAX_BODY_BYTES) break
  }
  const body = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString()
  return { body, cut: bytes > MAX_BODY_BYTES }
}
