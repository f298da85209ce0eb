import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs'
import { awsCaller, type CallerOptions } from './aws-caller.ts'
import { awsRefusal } from './aws-refusal.ts'

export interface LoggedLine {
  readonly at: number
  readonly group: string
  readonly text: string
}

interface Searched extends CallerOptions {
  readonly stage: string
  /** What a line must hold. */
  readonly text: string
  /** Milliseconds since 1970. */
  readonly since: number
  /** At most so many, the newest. */
  readonly limit: number
}

/** How many groups are asked at once: CloudWatch takes 5 to 10 calls of FilterLogEvents a second. */
const AT_ONCE = 4

/** Every line that holds the text, in the log groups of the stage's functions and machines, oldest first. */
export async function findLogs({ stage, text, since, limit, ...options }: Searched): Promise<readonly LoggedLine[]> {
  const caller = awsCaller(options)
  const client = new CloudWatchLogsClient({
    region: caller.region,
    credentials: caller.credentials,
    maxAttempts: 5,
  })
  try {
    const groups = [
      ...(await groupsOf(client, `/aws/lambda/sluice-${stage}-`)),
      ...(await groupsOf(client, `/aws/vendedlogs/states/sluice-${stage}`)),
    ]
    const found: LoggedLine[] = []
    for (let from = 0; from < groups.length; from += AT_ONCE) {
      const asked = groups.slice(from, from + AT_ONCE).map((group) => linesOf(client, { group, text, since, limit }))
      found.push(...(await Promise.all(asked)).flat())
    }
    return found.sort((a, b) => a.at - b.at).slice(-limit)
  } catch (error) {
    throw awsRefusal(error)
  }
}

async function groupsOf(client: CloudWatchLogsClient, logGroupNamePrefix: string): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, { logGroupNamePrefix }))
    names.push(...logGroups.flatMap(({ logGroupName }) => logGroupName ?? []))
  return names
}

async function linesOf(
  client: CloudWatchLogsClient,
  { group, text, since, limit }: { readonly group: string } & Pick<Searched, 'text' | 'since' | 'limit'>,
): Promise<readonly LoggedLine[]> {
  const lines: LoggedLine[] = []
  const asked = { logGroupName: group, filterPattern: `"${text}"`, startTime: since }
  for await (const { events = [] } of paginateFilterLogEvents({ client }, asked)) {
    for (const { timestamp = 0, message = '' } of events) lines.push({ at: timestamp, group, text: message.trimEnd() })
    if (lines.length > limit) lines.splice(0, lines.length - limit)
  }
  return lines
}
