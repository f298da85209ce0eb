import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { guardSite } from '../../shared/api/guard-site.ts'
import { enterPage, holdsSession, loginNeeded, loginUrl, type PageLogin } from '../../shared/api/page-login.ts'
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
  /** Where it is opened, with the secret: whoever has it acts as who started this. */
  readonly url: string
  close(): Promise<void>
}

/**
 * The console on 127.0.0.1, in front of an API somewhere else: the page is answered here, its API calls go there, signed
 * or with the token of whoever started this. The page never sees either. Who only knows the port gets the page and no call
 * (page-login.ts). Refused port_taken.
 */
export async function openConsoleProxy(parts: ProxyParts): Promise<ConsoleProxy> {
  const secret = randomBytes(24).toString('base64url')
  const login = { secret, session: randomBytes(24).toString('base64url') }
  const server = createServer((request, response) => void answer(request, response, { ...parts, login }))
  await bound(server, parts.port)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : parts.port
  return {
    url: loginUrl(`http://127.0.0.1:${port}`, secret),
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

interface Proxied extends ProxyParts {
  readonly login: PageLogin
}

/** Never rejects: what goes wrong is an answer, or, once one has begun, its end. */
async function answer(request: IncomingMessage, response: ServerResponse, parts: Proxied): Promise<void> {
  try {
    const { method = 'GET', headers, url = '/' } = request
    const path = url.split('?')[0] ?? '/'
    const site = headers['sec-fetch-site']
    const port = request.socket.localPort ?? 0
    guardSite({ port, host: headers.host, origin: headers.origin, site, path })
    const page = enterPage({ port, method, url }, parts.login) ?? (await parts.files({ method, path, headers }))
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

async function forward(request: IncomingMessage, response: ServerResponse, { target, login }: Proxied): Promise<void> {
  const path = request.url ?? '/'
  if (!path.startsWith('/api/')) {
    const message = `Cannot find "${path.slice(0, 200)}": the console is at / and the API below /api/.`
    throw new Fault('NotFound', 'route_not_found', message)
  }
  if (!holdsSession(request.socket.localPort ?? 0, request.headers.cookie, login)) throw loginNeeded(STRANGER)
  await forwardCall(request, response, target)
}

const STRANGER = 'this page was not opened by the address `sluice console` printed, which makes its calls yours'
