import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate as immediately, setTimeout as pause } from 'node:timers/promises'

/** What a server of a model was sent. */
export interface Asked {
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Readonly<Record<string, unknown>>
}

/** How one request is answered; what a behaviour leaves open stays open. */
export type Behaviour = (response: ServerResponse, asked: Asked) => void | Promise<void>

export interface ProviderServer {
  /** http://127.0.0.1:PORT */
  readonly url: string
  /** In the order they came. */
  readonly asked: readonly Asked[]
  /** When callers hung up before their answer was whole, in milliseconds of performance.now(). */
  readonly hungUp: readonly number[]
  /** The next requests are answered this way, one each; then as usual again. */
  next(...behaviours: readonly Behaviour[]): void
  close(): Promise<void>
}

/** Serves on a free port of 127.0.0.1. With a key, whoever does not send it (as a bearer, or in another `header` as it is) is 401. */
export async function serveProvider(usual: Behaviour, key?: string, header = 'authorization'): Promise<ProviderServer> {
  const { listener, ...parts } = behaving(usual, key, header)
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    ...parts,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** What requests are answered with, and the book that is kept of them. */
export function behaving(usual: Behaviour, key?: string, header = 'authorization') {
  const asked: Asked[] = []
  const hungUp: number[] = []
  const planned: Behaviour[] = []
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    response.on('close', () => {
      // One that was never ended is `finished` too when HTTP/2's stream is closed.
      if (!response.writableFinished || !response.writableEnded) hungUp.push(performance.now())
    })
    answer(request, response).catch(() => response.destroy())
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // `sluice doctor` asks whether anybody is there.
    if (request.method === 'HEAD') return void response.writeHead(405).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = request.headers as Readonly<Record<string, string | undefined>>
    const one = { path: request.url ?? '', headers, body: JSON.parse(Buffer.concat(chunks).toString()) }
    asked.push(one)
    if (key !== undefined && headers[header] !== (header === 'authorization' ? `Bearer ${key}` : key)) {
      return json(401, { error: { message: `Incorrect API key provided: ${headers[header]}` } })(response, one)
    }
    return (planned.shift() ?? usual)(response, one)
  }
  const next = (...behaviours: readonly Behaviour[]) => void planned.push(...behaviours)
  return { listener, asked, hungUp, next }
}

/** A JSON answer with any status. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return raw(status, JSON.stringify(body), headers)
}

export function raw(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }
}

/**
 * Sends a text in pieces of so many bytes, whatever they cut in two; larger ones behind the first thirty, so that a long
 * text is no matter of a thousand writes. `ending: 'cut'` breaks the connection instead of ending.
 */
export function pieces(
  mediaType: string,
  text: string,
  {
    bytes = 7,
    ms = 0,
    ending = 'end',
  }: { readonly bytes?: number; readonly ms?: number; readonly ending?: 'end' | 'cut' } = {},
): Behaviour {
  const whole = Buffer.from(text)
  const wait = ms === 0 ? immediately : () => pause(ms)
  return async (response) => {
    response.writeHead(200, { 'content-type': mediaType })
    for (const piece of cut(whole, bytes, ms === 0 ? 43 * bytes : bytes)) {
      if (response.destroyed) return
      response.write(piece)
      await wait()
    }
    if (ending === 'cut') response.destroy()
    response.end()
  }
}

function* cut(whole: Buffer, first: number, later: number): Generator<Buffer> {
  for (let at = 0, size = first; at < whole.length; at += size) {
    size = at < 30 * first ? first : later
    yield whole.subarray(at, at + size)
  }
}

/** Takes the request and says nothing more. */
export const hang: Behaviour = () => {}

/** Breaks the connection before a byte of an answer. */
export const reset: Behaviour = (response) => {
  response.socket?.resetAndDestroy()
}

/** Goes on sending for as long as anybody reads. */
export const endless: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = Buffer.alloc(65_536, 'x')
  const more = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}
