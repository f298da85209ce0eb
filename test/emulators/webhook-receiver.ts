import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message as it came, its signature checked by the scheme's own text and none of our code. */
export interface ReceivedMessage {
  readonly id: string
  readonly timestamp: number
  readonly text: string
  readonly body: Record<string, unknown>
  /** Which of the receiver's secrets fit, by index; none = a forgery. */
  readonly signed_by: readonly number[]
}

/** What the receiver does with a request: a status, or whatever else a server may do to a client. */
export type Reaction = number | ((response: ServerResponse, request: IncomingMessage) => void)

export interface WebhookReceiver {
  readonly port: number
  readonly url: string
  /** In the order they came, whatever was answered. */
  readonly received: ReceivedMessage[]
  /** What is done with the next requests, in turn; the last one stays. Begins with 204. */
  react(...reactions: readonly Reaction[]): void
  close(): Promise<void>
}

/** A receiver of Standard Webhooks that holds these secrets (`whsec_..`). */
export async function openReceiver(secrets: readonly string[], port = 0): Promise<WebhookReceiver> {
  const received: ReceivedMessage[] = []
  let coming: Reaction[] = [204]
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    received.push(read(request, text, secrets))
    const [reaction = 204] = coming
    if (coming.length > 1) coming = coming.slice(1)
    if (typeof reaction === 'number') response.writeHead(reaction).end()
    else reaction(response, request)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    received,
    react(...reactions) {
      coming = [...reactions]
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function read({ headers }: IncomingMessage, text: string, secrets: readonly string[]): ReceivedMessage {
  const header = (name: string) => String(headers[name] ?? '')
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const signatures = header('webhook-signature').split(' ')
  const signed_by = secrets.flatMap((secret, i) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const wanted = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')}`)
    const fits = signatures
      .map((one) => Buffer.from(one))
      .some((one) => one.length === wanted.length && timingSafeEqual(one, wanted))
    return fits ? [i] : []
  })
  return { id, timestamp: Number(timestamp), text, body: JSON.parse(text), signed_by }
}
