import type { McpServers } from '../../shared/tools/mcp-port.ts'
import { openMcpServers } from '../mcp/mcp-servers.ts'
import type { Core } from './core.ts'

/** The McpServers port: streamable HTTP alone, keys are secrets of Systems Manager or Secrets Manager. */
export function openMcp({ settings, secrets }: Pick<Core, 'settings' | 'secrets'>): McpServers {
  return openMcpServers(settings.mcp_servers, {
    readKey: async ({ secret }) => (secret === undefined ? undefined : secrets?.read({ secret })),
  })
}
