import type { Command } from 'commander'
import { chooseTarget } from '../server/api.ts'
import { type TargetOptions, withTargetOptionsButJson } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'

interface McpOptions extends TargetOptions {
  readonly allowApprovals?: true
}

export function addMcp(parent: Command, session: Session): void {
  withTargetOptionsButJson(
    parent.command('mcp').description('serve the API as tools to an MCP client, on stdin and stdout'),
  )
    .option(
      '--allow-approvals',
      'also the tool that decides approvals: without it a model may ask for work, and only people let it through',
    )
    .action((options: McpOptions) => mcp(session, options))
}

async function mcp(session: Session, { url, allowApprovals }: McpOptions): Promise<void> {
  const target = chooseTarget(session, url)
  // Only here: no other command waits for the SDK to load.
  const { serveMcp } = await import('./serve.ts')
  await serveMcp(target, allowApprovals === true, session.warn)
}
