import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers one request; `asked` is its number, from 0 on. */
type Answer = (request: IncomingMessage, response: ServerResponse, asked: number) => void

export interface StreamServer {
  readonly origin: string
  /** Last-Event-ID of each request, and when it came (ms). */
  readonly asked: readonly { readonly after: string | undefined; readonly at: number }[]
  close(): Promise<void>
}

/** A server whose answers a test writes, one a request; the last one stands for all that follow. */
export async function openStreamServer(...answers: readonly Answer[]): Promise<StreamServer> {
  const asked: { after: string | undefined; at: number }[] = []
  const server = createServer((request, response) => {
    const { 'last-event-id': after } = request.headers
    asked.push({ after: typeof after === 'string' ? after : undefined, at: performance.now() })
    answers[Math.min(asked.length, answers.length) - 1]?.(request, response, asked.length - 1)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const status =
  (code: number, body = ''): Answer =>
  (_, response) => {
    response.writeHead(code, { 'content-type': 'application/json' }).end(body)
  }

/** Streams events with these numbers; `end`: 'drop' breaks the connection, 'run' sends the event that ends the run. */
export const stream =
  (seqs: readonly number[], end: 'drop' | 'close' | 'stay' = 'close'): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`retry: 1000\n\n${seqs.map(message).join('')}`)
    if (end === 'close') response.end()
    // What was written must be out before the connection breaks.
    if (end === 'drop') setTimeout(() => response.destroy(), 30)
  }

/** Number 9 ends the run. */
export function message(seq: number): string {
  const type = seq === 9 ? 'run:completed' : 'block:ready'
  const event = { seq, id: `0/${seq}/0`, type, run_id: 'run_x', at: '2026-11-22T00:00:00.000Z', data: {} }
  return `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify(event)}\n\n`
}
