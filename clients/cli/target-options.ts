import type { Command } from 'commander'

/** Options of every command that talks to a server. */
export interface TargetOptions {
  readonly url?: string
  readonly json?: true
}

export function withTarget(command: Command): Command {
  return command
    .option('--url <url>', 'server to use (default: SLUICE_URL, else http://127.0.0.1:4040)')
    .option('--json', 'print JSON')
}
