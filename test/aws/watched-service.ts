import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { targetOf } from '../emulators/http-service.ts'

/** A request on its way to a service. */
export interface Passing {
  /** Name of the function that asks. */
  readonly principal: string
  /** Of the target header, else the method. */
  readonly operation: string
  readonly body: Buffer
}

/** Told of each request before it reaches the service; what it answers is called once the service has answered. */
type Watch = (passing: Passing) => Promise<(refused: boolean) => Promise<void>>

/** Stands before a service: passes requests and answers on as they are. */
export async function watchService(endpoint: string, watch: Watch) {
  const agent = new Agent({ keepAlive: true })
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const [, principal = ''] = /Credential=([^/]+)\//.exec(request.headers.authorization ?? '') ?? []
    const done = await watch({ principal, operation: targetOf(request) || (request.method ?? ''), body })
    const { method = 'GET', url = '/', headers } = request
    const going = send(endpoint, { agent, method, path: url, headers }, async (answer) => {
      const status = answer.statusCode ?? 500
      await done(status >= 400)
      response.writeHead(status, answer.headers)
      answer.pipe(response)
    })
    going.on('error', () => response.destroy())
    going.end(body)
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}
