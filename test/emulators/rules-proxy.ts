import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { ruleBroken } from './dynamodb-rules.ts'

/**
 * A door in front of an emulator of DynamoDB: a request that DynamoDB would refuse is answered as DynamoDB answers, all
 * others go on as they came. So whatever speaks to the emulator, bundled functions in processes of their own too, is held
 * to the rules.
 */
export async function openRulesProxy(
  port: number,
  sockets = 256,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const server = createServer((incoming, answer) => {
    void passOn({ agent, port }, incoming, answer).catch((error: unknown) => {
      if (!answer.headersSent) answer.writeHead(502)
      answer.end(String(error))
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}

interface Behind {
  readonly agent: Agent
  readonly port: number
}

async function passOn({ agent, port }: Behind, incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const operation = String(incoming.headers['x-amz-target'] ?? '').split('.')[1]
  const broken = operation === undefined ? undefined : ruleBroken(operation, JSON.parse(body.toString('utf8') || '{}'))
  if (broken !== undefined) {
    answer.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
    const __type = 'com.amazonaws.dynamodb.v20120810#ValidationException'
    answer.end(JSON.stringify({ __type, message: `${operation}: ${broken}` }))
    return
  }
  const { method, url, headers } = incoming
  const forwarded = request({ agent, host: '127.0.0.1', port, method, path: url, headers })
  forwarded.end(body)
  const [reply] = (await once(forwarded, 'response')) as [IncomingMessage]
  const answered: Buffer[] = []
  for await (const chunk of reply) answered.push(chunk as Buffer)
  answer.writeHead(reply.statusCode ?? 502, reply.headers)
  answer.end(Buffer.concat(answered))
}
