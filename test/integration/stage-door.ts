import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'

/** What stands before a place: it counts what goes through, and may break off. */
export interface Watched {
  readonly url: string
  /** Requests so far, and the bytes of the largest answer. */
  readonly seen: { requests: number; largest: number }
  /** From that request on nobody answers; undefined: everybody is served. */
  breakAt(request: number | undefined): void
  close(): Promise<void>
}

export async function watch(url: string): Promise<Watched> {
  const seen = { requests: 0, largest: 0 }
  let broken: number | undefined
  const server = createServer((request, response) => {
    seen.requests += 1
    if (broken !== undefined && seen.requests >= broken) return void response.writeHead(404).end('{}')
    void pass(url, request).then(({ status, type, body }) => {
      seen.largest = Math.max(seen.largest, body.byteLength)
      response.writeHead(status, { 'content-type': type }).end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    seen,
    breakAt(request) {
      broken = request
      seen.requests = 0
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function pass(url: string, request: IncomingMessage) {
  const parts: Buffer[] = await request.toArray()
  const { authorization, 'content-type': sent } = request.headers
  const headers = {
    ...(authorization !== undefined && { authorization }),
    ...(sent !== undefined && { 'content-type': sent }),
  }
  const method = request.method ?? 'GET'
  const body = method === 'GET' ? {} : { body: Buffer.concat(parts) }
  const answer = await fetch(`${url}${request.url}`, { method, headers, ...body })
  const type = answer.headers.get('content-type') ?? ''
  return { status: answer.status, type, body: Buffer.from(await answer.arrayBuffer()) }
}
