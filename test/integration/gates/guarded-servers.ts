import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { limitedRequest } from '../../../functions/gates/net-gate.ts'
import type { LimitedAnswer, LimitedRequest } from '../../../shared/gates/gate-ports.ts'
import type { HttpGateSettings } from '../../../shared/gates/settings.ts'

export const NOTHING: HttpGateSettings = { ports: [], deny_hosts: [], loopback: false }

export interface LocalServer {
  readonly port: number
  readonly url: string
  /** Method and path of every request that came. */
  readonly asked: string[]
  close(): Promise<void>
}

/** A web server of this machine that counts who comes. */
export async function serve(listener: RequestListener): Promise<LocalServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  return { asked, ...(await listening(server)) }
}

/** A server that talks bytes. */
export async function serveBytes(talk: (socket: Socket) => void): Promise<LocalServer> {
  const sockets = new Set<Socket>()
  const asked: string[] = []
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    asked.push('connection')
    socket.on('error', () => undefined)
    talk(socket)
  })
  const { close, ...rest } = await listening(server)
  return {
    asked,
    ...rest,
    close() {
      for (const socket of sockets) socket.destroy()
      return close()
    },
  }
}

async function listening(server: Server | TcpServer) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      if ('closeAllConnections' in server) server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Asking {
  readonly policy?: Partial<HttpGateSettings>
  /** What the name server says. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  readonly request?: Partial<LimitedRequest>
}

/** One guarded GET, as an operator's settings allow it. */
export function ask(url: string, { policy, resolve, request }: Asking = {}): Promise<LimitedAnswer> {
  const guarded = { method: 'GET', url, timeout_ms: 60_000, ...request } as const
  return limitedRequest(guarded, {
    policy: { ...NOTHING, own_port: 4040, ...policy },
    ...(resolve === undefined ? {} : { resolve }),
  })
}

/** The same where the operator lets gates ask this machine on the ports of those servers. */
export function askHere(servers: readonly Pick<LocalServer, 'port'>[], url: string, more: Asking = {}) {
  return ask(url, { ...more, policy: { loopback: true, ports: servers.map(({ port }) => port), ...more.policy } })
}
