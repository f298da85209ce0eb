import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { DYNAMODB_LIMITS, itemBytes, ruleBroken, sizeProblem } from './dynamodb-rules.ts'

/**
 * A door in front of an emulator of DynamoDB: a request that DynamoDB would refuse is answered as DynamoDB answers, all
 * others go on as they came. What an update makes of an item is known only afterwards: one that has become too large is put
 * back as it was. So whatever speaks to the emulator, bundled functions in processes of their own too, is held to the rules.
 */
export async function openRulesProxy(
  port: number,
  sockets = 256,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const sizes = new Map<string, number>()
  const server = createServer((incoming, answer) => {
    void passOn({ agent, port, sizes }, incoming, answer).catch((error: unknown) => {
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
  /** The most an item may have by now, by table and key; absent = nobody looked yet. */
  readonly sizes: Map<string, number>
}

async function passOn(behind: Behind, incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const operation = String(incoming.headers['x-amz-target'] ?? '').split('.')[1]
  const asked = JSON.parse(body.toString('utf8') || '{}')
  const broken = operation === undefined ? undefined : ruleBroken(operation, asked)
  if (broken !== undefined) return refuse(answer, `${operation}: ${broken}`)
  const update = operation === 'UpdateItem' ? await watchUpdate(behind, incoming, asked, body.length) : undefined
  const reply = await send(behind, incoming, body)
  const grown = await update?.(reply.status)
  if (grown !== undefined) return refuse(answer, `${operation}: ${grown}`)
  answer.writeHead(reply.status, reply.headers)
  answer.end(reply.body)
}

function refuse(answer: ServerResponse, message: string): void {
  answer.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
  answer.end(JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ValidationException', message }))
}

interface Keyed {
  readonly TableName?: string
  readonly Key?: Readonly<Record<string, AttributeValue>>
}

/**
 * An item grows by less than the request has bytes, so most updates need no look. undefined: this one needs none; else what has
 * to be asked once it is answered: why the item cannot stay as it is.
 */
async function watchUpdate(behind: Behind, incoming: IncomingMessage, { TableName, Key }: Keyed, bytes: number) {
  const { sizes } = behind
  const id = JSON.stringify([TableName, Key])
  const known = sizes.get(id)
  if (known !== undefined && known + bytes <= DYNAMODB_LIMITS.item_bytes) {
    sizes.set(id, known + bytes)
    return undefined
  }
  const ask = (operation: string, more: object) =>
    send(behind, incoming, Buffer.from(JSON.stringify({ TableName, ...more })), operation)
  const read = async (): Promise<Keyed['Key']> =>
    JSON.parse((await ask('GetItem', { Key, ConsistentRead: true })).body.toString('utf8')).Item
  const before = known === undefined ? undefined : await read()
  return async (status: number): Promise<string | undefined> => {
    if (status !== 200) return undefined
    const now = (await read()) ?? {}
    sizes.set(id, itemBytes(now))
    const problem = sizeProblem(now)
    if (problem === undefined) return undefined
    sizes.delete(id)
    await (before === undefined ? ask('DeleteItem', { Key }) : ask('PutItem', { Item: before }))
    return `Item size to update has exceeded the maximum allowed size: ${problem}`
  }
}

/** Emulators read a signature and verify none: an operation of our own goes under that of the request it belongs to. */
async function send(
  { agent, port }: Behind,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  operation?: string,
) {
  const target = operation === undefined ? {} : { 'x-amz-target': `DynamoDB_20120810.${operation}` }
  const told = { ...headers, ...target, 'content-length': String(body.length) }
  const forwarded = request({ agent, host: '127.0.0.1', port, method, path: url, headers: told })
  forwarded.end(body)
  const [reply] = (await once(forwarded, 'response')) as [IncomingMessage]
  const answered: Buffer[] = []
  for await (const chunk of reply) answered.push(chunk as Buffer)
  return { status: reply.statusCode ?? 502, headers: reply.headers, body: Buffer.concat(answered) }
}
