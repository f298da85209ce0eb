import type { Settings } from '../../shared/settings/settings.ts'
import type { McpServers } from '../../shared/tools/mcp-port.ts'
import { mcpKeys } from '../../shared/tools/settings.ts'

/**
 * The McpServers port of this place: keys by environment variable, servers of stdio as processes of this machine. The
 * client of the protocol is loaded by the first call that needs it.
 */
export function createMcp(
  { mcp_servers, project_dir }: Pick<Settings, 'mcp_servers' | 'project_dir'>,
  held: ReadonlyMap<string, string>,
): McpServers & { close(): Promise<void> } {
  const load = async () => {
    const [{ openMcpServers }, { openMcpProcesses }] = await Promise.all([
      import('../../functions/mcp/mcp-servers.ts'),
      import('./mcp-processes.ts'),
    ])
    const processes = openMcpProcesses({ cwd: project_dir ?? process.cwd(), held })
    const readKey = async ({ env }: { readonly env?: string | undefined }) => {
      return env === undefined ? undefined : held.get(env)
    }
    return { servers: openMcpServers(mcp_servers, { readKey, processes }), close: processes.close }
  }
  let opened: ReturnType<typeof load> | undefined
  const open = () => {
    opened ??= load()
    return opened
  }
  return {
    names: () => Object.keys(mcp_servers),
    tools: async (server, signal) => (await open()).servers.tools(server, signal),
    call: async (server, call) => (await open()).servers.call(server, call),
    close: async () => (opened === undefined ? undefined : (await opened).close()),
  }
}

/** The environment variables that hold their keys, and those that processes are given. */
export function mcpVariableNames({ mcp_servers }: Pick<Settings, 'mcp_servers'>): readonly string[] {
  return Object.values(mcp_servers).flatMap((server) => [
    ...mcpKeys(server).flatMap(({ key }) => key.env ?? []),
    ...server.env,
  ])
}
