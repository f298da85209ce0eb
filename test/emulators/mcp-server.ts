import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

/** A tool as our server tells of it; everything may be changed while it runs. */
export interface ToldTool {
  name: string
  description?: unknown
  inputSchema?: unknown
  outputSchema?: unknown
  annotations?: unknown
}

/** One message it was sent. */
interface Message {
  readonly method: string
  readonly id?: number | string
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
}

/** How one message is answered instead; what a behaviour leaves open stays open. */
export type McpBehaviour = (response: ServerResponse, message: Message) => void

export interface McpEmulator {
  /** http://127.0.0.1:PORT/mcp */
  readonly url: string
  /** Everything it was sent, in order. */
  readonly asked: Message[]
  readonly tools: ToldTool[]
  /** What calls are answered with, by the name of the tool; else their arguments as text. */
  readonly results: Map<string, (params: Readonly<Record<string, unknown>>) => unknown>
  /** How messages of a method are answered instead of as usual. */
  readonly instead: Map<string, McpBehaviour>
  close(): Promise<void>
}

/**
 * A server of streamable HTTP of the revision of 2025, whose tools are whatever a test makes of them: one that changes them
 * behind its users' backs, and one that answers what no server should. With a key, whoever does not send it is 401.
 */
export async function startMcpServer(tools: ToldTool[], key?: string): Promise<McpEmulator> {
  const asked: Message[] = []
  const results: McpEmulator['results'] = new Map()
  const instead: McpEmulator['instead'] = new Map()
  const answer = (text: string, headers: IncomingHttpHeaders, response: ServerResponse) => {
    const { method, id, params = {} } = JSON.parse(text) as Omit<Message, 'headers'>
    const message = { method, params, headers, ...(id === undefined ? {} : { id }) }
    asked.push(message)
    const other = instead.get(method)
    if (other !== undefined) return other(response, message)
    if (id === undefined) return response.writeHead(202).end()
    const result = usual(message, tools, results)
    const unknown = { error: { code: -32_601, message: 'Method not found' } }
    return answerMcp(response, result === undefined ? unknown : { result }, id)
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { method, headers } = request
    if (key !== undefined && headers.authorization !== `Bearer ${key}`) return response.writeHead(401).end()
    if (method === 'POST') return answer(text, headers, response)
    return response.writeHead(method === 'DELETE' ? 204 : 405).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`,
    asked,
    tools,
    results,
    instead,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** One answer as JSON. */
export function answerMcp(response: ServerResponse, body: Readonly<Record<string, unknown>>, id: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
}

function usual({ method, params }: Message, tools: readonly ToldTool[], results: McpEmulator['results']): unknown {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'emulated', version: '1' },
      }
    case 'tools/list':
      return { tools }
    case 'tools/call': {
      const result = results.get(String(params.name))
      const text = JSON.stringify(params.arguments)
      return result === undefined ? { content: [{ type: 'text', text }] } : result(params)
    }
    default:
      return undefined
  }
}
