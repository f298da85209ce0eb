import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type ServerHttp2Session } from 'node:http2'
import { setImmediate as immediately } from 'node:timers/promises'
import { eventMessage } from './event-stream.ts'
import { type Asked, type Behaviour, behaving, json, type ProviderServer } from './provider-server.ts'

/** What a model says: a text, or the input of the tool it was offered. */
export type Said = string | { readonly tool: object }

/**
 * Amazon Bedrock's runtime as its SDK client sees it: HTTP/2, `/model/<id>/converse` in JSON and
 * `/model/<id>/converse-stream` as an event stream. Signatures are not checked: it proves client and protocol, not AWS.
 */
export async function startBedrock(reply: (asked: Asked) => Said): Promise<ProviderServer> {
  const { listener, ...parts } = behaving((response, asked) => converses(reply(asked))(response, asked))
  // The compatibility layer of http2 is made to be taken for http's request and response.
  const server = createServer((request, response) =>
    listener(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  )
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session)).on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    ...parts,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const session of sessions) session.destroy()
      await closed
    },
  }
}

const USAGE = { inputTokens: 21, outputTokens: 9, totalTokens: 30 }

/** Whole or as a stream, as the path asks for it. */
export function converses(said: Said, stopReason = typeof said === 'string' ? 'end_turn' : 'tool_use'): Behaviour {
  return (response, asked) => {
    if (!asked.path.endsWith('/converse-stream')) {
      const content = typeof said === 'string' ? { text: said } : { toolUse: { ...TOOL, input: said.tool } }
      const output = { message: { role: 'assistant', content: [content] } }
      return json(200, { output, stopReason, usage: USAGE, metrics: { latencyMs: 5 } })(response, asked)
    }
    return frames(streamed(said, stopReason))(response, asked)
  }
}

const TOOL = { toolUseId: 'tooluse_1', name: 'answer' }

/** The events of a stream, some characters of the text each. */
function streamed(said: Said, stopReason: string): readonly Buffer[] {
  const words = typeof said === 'string' ? said : JSON.stringify(said.tool)
  const pieces = words.match(/.{1,5}/gsu) ?? []
  const start =
    typeof said === 'string' ? [] : [event('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: TOOL } })]
  const delta = (piece: string) => (typeof said === 'string' ? { text: piece } : { toolUse: { input: piece } })
  return [
    event('messageStart', { role: 'assistant' }),
    ...start,
    ...pieces.map((piece) => event('contentBlockDelta', { contentBlockIndex: 0, delta: delta(piece) })),
    event('contentBlockStop', { contentBlockIndex: 0 }),
    event('messageStop', { stopReason }),
    event('metadata', { usage: USAGE, metrics: { latencyMs: 5 } }),
  ]
}

export function event(type: string, payload: object): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return eventMessage(headers, JSON.stringify(payload))
}

/** An error that comes after the answer has begun. */
export function exception(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }
  return eventMessage(headers, JSON.stringify({ message }))
}

/** Sends messages one after the other; `ending: 'open'` leaves the stream as it is then, `'cut'` breaks it. */
export function frames(messages: readonly Buffer[], ending: 'end' | 'cut' | 'open' = 'end'): Behaviour {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    for (const message of messages) {
      response.write(message)
      await immediately()
    }
    if (ending === 'end') response.end()
    if (ending === 'cut') broken(response)
  }
}

/** An error of the service, as REST-JSON tells it. */
export function refusal(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Behaviour {
  return json(status, { message }, { 'x-amzn-errortype': type, ...headers })
}

/** Breaks the stream off. */
export const broken = (response: Parameters<Behaviour>[0]): void => {
  // Of the compatibility layer, see above.
  const { stream } = response as unknown as { readonly stream: { close(code: number): void } }
  stream.close(INTERNAL_ERROR)
}

const INTERNAL_ERROR = 2
