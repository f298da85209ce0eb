import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

/**
 * A server of stdio as a program: `usual` speaks both revisions of the protocol; `old` ends when it is asked anything before
 * `initialize`, as servers of earlier kits do; the others are what no server should be.
 */
const kind = process.argv[2] ?? 'usual'

function send(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

function usual(): void {
  serveStdio(() => {
    const server = new McpServer({ name: 'stdio', version: '1' })
    const echo = { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) }
    server.registerTool('echo', echo, async ({ text }) => ({ content: [{ type: 'text', text }] }))
    const pid = { description: 'Says which process it is.', inputSchema: z.object({}) }
    server.registerTool('pid', pid, async () => ({ content: [{ type: 'text', text: String(process.pid) }] }))
    const environment = { description: 'Says what it was given.', inputSchema: z.object({}) }
    server.registerTool('environment', environment, async () => {
      return { content: [{ type: 'text', text: JSON.stringify(process.env) }] }
    })
    const crash = { description: 'Ends in the middle.', inputSchema: z.object({}) }
    server.registerTool('crash', crash, async () => {
      process.stderr.write('out of cheese\n')
      process.exit(3)
    })
    const flood = { description: 'Never ends its answer.', inputSchema: z.object({}) }
    server.registerTool('flood', flood, async () => {
      const piece = 'x'.repeat(65_536)
      const more = () => {
        while (process.stdout.write(piece));
        process.stdout.once('drain', more)
      }
      more()
      return new Promise(() => {})
    })
    return server
  })
}

function answering(answer: (message: { readonly id?: number; readonly method: string }) => void): void {
  let rest = ''
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) answer(JSON.parse(line))
  })
}

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'old', version: '1' },
}

const KINDS: Readonly<Record<string, () => void>> = {
  usual,
  old: () => {
    let initialized = false
    answering(({ id, method }) => {
      if (method === 'initialize') {
        initialized = true
        send({ jsonrpc: '2.0', id, result: INITIALIZED })
      } else if (!initialized) process.exit(1)
      else if (method === 'tools/list') {
        send({ jsonrpc: '2.0', id, result: { tools: [{ name: 'old', inputSchema: { type: 'object' } }] } })
      } else if (id !== undefined) send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'old' }] } })
    })
  },
  // Reads, and says nothing.
  silent: () => process.stdin.resume(),
  // Does not end when its input does, nor when it is asked to.
  stubborn: () => {
    process.on('SIGTERM', () => undefined)
    setInterval(() => undefined, 1_000)
    usual()
  },
  chatty: () => {
    process.stdout.write('Starting up, please wait ..\n{"level":"info"}\n')
    usual()
  },
}

KINDS[kind]?.()
