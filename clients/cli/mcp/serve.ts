import { once } from 'node:events'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import about from '../../../package.json' with { type: 'json' }
import type { Target } from '../api.ts'
import { exactLines } from './exact-lines.ts'
import { MCP_TOOLS } from './registry.ts'
import { serveTool } from './serve-tool.ts'

/** Speaks MCP on stdin and stdout until stdin ends; nothing else may be written to stdout meanwhile. */
export async function serveMcp(target: Target, decides: boolean, warn: (text: string) => void): Promise<void> {
  const ended = once(process.stdin, 'close')
  const transport = new StdioServerTransport(process.stdin.pipe(exactLines((line) => process.stdout.write(line))))
  const onerror = (error: Error) => warn(`mcp: ${error.message}`)
  const handle = serveStdio(() => serverOf(target, decides), { transport, onerror })
  await ended
  await handle.close()
}

function serverOf(target: Target, decides: boolean): McpServer {
  const server = new McpServer(
    { name: 'sluice', version: about.version },
    { instructions: instructions(target, decides) },
  )
  for (const one of MCP_TOOLS) if (decides || one.decides !== true) serveTool(server, target, one)
  return server
}

function instructions({ url }: Target, decides: boolean): string {
  const people = decides
    ? 'You may decide approvals: look at exactly what is shown first, and send its digest.'
    : 'Approvals are for people: tell them what is asked (list_approvals), they decide with `sluice approvals` or in the console.'
  return `Runs of gated DAGs of AI-agent work at ${url}. A run is started with start_run and followed with watch_run. ${people}`
}
