import type { Command } from 'commander'

/** Options of every command that talks to a server. */
export interface TargetOptions {
  readonly url?: string
  /** A deployment on AWS, called with the caller's own credentials (choose-stack.ts reads these three). */
  readonly stack?: string
  readonly profile?: string
  readonly region?: string
  readonly json?: true
}

export function withTarget(command: Command): Command {
  return withServer(command).option('--json', 'print JSON')
}

/** The same for a command that prints nothing of its own. */
export function withServer(command: Command): Command {
  return command
    .option('--url <url>', 'server to use (default: SLUICE_URL, else http://127.0.0.1:4040)')
    .option(
      '--stack <name>',
      'a deployment on AWS, signed with your credentials: its stage, or the name of its API stack',
    )
    .option('--profile <name>', 'AWS profile that signs (default: AWS_PROFILE, else as the AWS tools choose)')
    .option('--region <name>', 'AWS region of the deployment (default: AWS_REGION, else that of the profile)')
}
