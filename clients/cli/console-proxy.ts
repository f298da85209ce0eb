import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { guardSite } from '../../shared/api/guard-site.ts'
import { problemHeaders, problemOf } from '../../shared/api/problem.ts'
import type { serveConsole } from '../../shared/console/serve-console.ts'
import { Fault } from '../../shared/errors.ts'
import type { Target } from './api.ts'
import { forwardCall } from './forward-call.ts'
import { Refused } from './refused.ts'

interface ProxyParts {
  readonly port: number
  readonly target: Target
  readonly files: ReturnType<typeof serveConsole>
  /** A refusal the person at the terminal should see too. */
  note(problem: { readonly code: string; readonly detail: string }): void
}

export interface ConsoleProxy {
  readonly url: string
  close(): Promise<void>
}

/**
 * The console on 127.0.0.1, in front of an API somewhere else: the page is answered here, its API calls go there, signed
 * or with the token of whoever started this. The page never sees either. Refused port_taken.
 */
export async function openConsoleProxy(parts: ProxyParts): Promise<ConsoleProxy> {
  const server = createServer((request, response) => void answer(request, response, parts))
  await bound(server, parts.port)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : parts.port
  return {
    url: `http://127.0.0.1:${port}`,
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

/** Never rejects: what goes wrong is an answer, or, once one has begun, its end. */
async function answer(request: IncomingMessage, response: ServerResponse, parts: ProxyParts): Promise<void> {
  try {
    const { method = 'GET', headers, url = '/' } = request
    const path = url.split('?')[0] ?? '/'
    const site = headers['sec-fetch-site']
    guardSite({ port: request.socket.localPort ?? 0, host: headers.host, origin: headers.origin, site, path })
    const page = await parts.files({ method, path, headers })
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

async function forward(request: IncomingMessage, response: ServerResponse, { target }: ProxyParts): Promise<void> {
  const path = request.url ?? '/'
  if (!path.startsWith('/api/')) {
    const message = `Cannot find "${path.slice(0, 200)}": the console is at / and the API below /api/.`
    throw new Fault('NotFound', 'route_not_found', message)
  }
  await forwardCall(request, response, target)
}
