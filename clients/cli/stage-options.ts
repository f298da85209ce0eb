import type { Command } from 'commander'

/** Options of the commands that are about a deployment itself. */
export interface StageOptions {
  readonly stage?: string
  readonly profile?: string
  readonly region?: string
}

export function withStage(command: Command): Command {
  return command
    .option('--stage <name>', 'its stage (default: the one in cdk.json)')
    .option('--profile <name>', 'AWS profile to use (default: AWS_PROFILE, else as the AWS tools choose)')
    .option('--region <name>', 'AWS region (default: AWS_REGION, else that of the profile)')
}
