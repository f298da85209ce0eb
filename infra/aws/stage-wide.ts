import { type Stack, Tags } from 'aws-cdk-lib'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

/** Days that CloudWatch keeps a log group, of those it allows (API reference of CloudWatch Logs, PutRetentionPolicy). */
export const LOG_DAYS = [
  ...[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731],
  ...[1_096, 1_827, 2_192, 2_557, 2_922, 3_288, 3_653],
] as const

/** Every log group of the stage is kept as long: of functions, machines, steps, containers, and both of the API. */
export function keepLogs(days: number, stacks: readonly Stack[]): void {
  for (const resource of stacks.flatMap((stack) => stack.node.findAll())) {
    if (resource instanceof CfnLogGroup) resource.retentionInDays = days
  }
}

/** The operator's tags on every resource that takes some, and on the stacks themselves. */
export function tagAll(scope: Construct, tags: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(tags)) Tags.of(scope).add(key, value)
}
