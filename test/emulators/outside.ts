import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import * as http from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** A certificate for *.outside.test that nobody signed, made for this file; its key opens nothing else. Until the year 2126. */
const KEY = pem('PRIVATE KEY', [
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiODljPx6t7l1lY4Q00iA2UdAqhAmSOioxwlUaGUweSWhRANCAAQM',
  'WScYx98BIc3/ZMAhurXT7mayBqGgnB+nJJB1nNkQLK4ofrRZSkj34zNzTbW+93tdIQzJmdJaiuadrfGbcWJT',
])
const CERTIFICATE = pem('CERTIFICATE', [
  'MIIBoDCCAUagAwIBAgIUXAtYEenY8Y3019LFohdM+6AsmwswCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMb3V0c2lkZS50ZXN0MCAX',
  'DTI2MTEyODIxMjMyMloYDzIxMjYxMTA0MjEyMzIyWjAXMRUwEwYDVQQDDAxvdXRzaWRlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO',
  'PQMBBwNCAAQMWScYx98BIc3/ZMAhurXT7mayBqGgnB+nJJB1nNkQLK4ofrRZSkj34zNzTbW+93tdIQzJmdJaiuadrfGbcWJTo24w',
  'bDAdBgNVHQ4EFgQU2CNuMDo1E1MZRznh0Gfox6TWW28wHwYDVR0jBBgwFoAU2CNuMDo1E1MZRznh0Gfox6TWW28wDwYDVR0TAQH/',
  'BAUwAwEB/zAZBgNVHREEEjAQgg4qLm91dHNpZGUudGVzdDAKBggqhkjOPQQDAgNIADBFAiAWAUXpbm23auZKL3kpc9K645z7pcDH',
  'f1acrFLdmcET4wIhAI9Vhxu3FMdPJJRGhlSCFU3sNNVj8SRP78ihBd1Y59qh',
])

export interface Outside {
  /** The proxy's address. */
  readonly url: string
  /** What the proxy was asked for, in order: `CONNECT HOST:PORT`, or the method and the whole address. */
  readonly asked: readonly string[]
  /** Requests that servers got, as `HOST METHOD PATH`. */
  readonly heard: readonly string[]
  forget(): void
  close(): Promise<void>
}

/**
 * The world behind a proxy: servers by their names below `.outside.test`, over http and https, which nobody but the proxy
 * can look up. With `credentials` (USER:PASSWORD) it asks for them.
 */
export async function startOutside(
  servers: Readonly<Record<string, RequestListener>>,
  credentials?: string,
): Promise<Outside> {
  const asked: string[] = []
  const heard: string[] = []
  const listener: RequestListener = (request, response) => {
    const [name = ''] = (request.headers.host ?? '').split(':')
    heard.push(`${name} ${request.method} ${request.url}`)
    const server = servers[name.replace('.outside.test', '')]
    if (server === undefined) response.writeHead(502).end()
    else server(request, response)
  }
  const plain = await listening(http.createServer(listener))
  const secure = await listening(createTlsServer({ key: KEY, cert: CERTIFICATE }, listener))
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, CERTIFICATE])
  const isLetIn = ({ headers }: http.IncomingMessage) =>
    credentials === undefined ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(credentials).toString('base64')}`
  const tunnels = new Set<Duplex>()
  const proxy = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (!isLetIn(request)) return void response.writeHead(407).end()
    // By its whole address; the servers read who is meant from the header.
    const { pathname, search } = new URL(request.url ?? '')
    request.url = pathname + search
    listener(request, response)
  })
  proxy.on('connect', (request, socket, head) => {
    asked.push(`CONNECT ${request.url}`)
    tunnels.add(socket)
    socket.on('error', () => undefined)
    if (!isLetIn(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const [host = '', port] = (request.url ?? '').split(':')
    if (!host.endsWith('.outside.test')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const there = connect(port === '443' ? secure.port : plain.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      there.write(head)
      there.pipe(socket).pipe(there)
    })
    tunnels.add(there)
    there.on('error', () => socket.destroy())
  })
  const front = await listening(proxy)
  return {
    url: `http://127.0.0.1:${front.port}`,
    asked,
    heard,
    forget() {
      asked.length = 0
      heard.length = 0
    },
    async close() {
      setDefaultCACertificates(trusted)
      for (const socket of tunnels) socket.destroy()
      await Promise.all([front.close(), plain.close(), secure.close()])
    },
  }
}

async function listening(server: http.Server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function pem(kind: string, base64: readonly string[]): string {
  return `-----BEGIN ${kind}-----\n${base64.join('\n')}\n-----END ${kind}-----\n`
}
