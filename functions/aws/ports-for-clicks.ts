import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { Slack } from '../../shared/slack/slack-port.ts'
import { callSlackOnce } from '../slack/client/call-once.ts'
import { openSlack } from '../slack/client/open-slack.ts'
import { type Core, requiredVariable } from './core.ts'
import { notedRequestsOn } from './run-store/noted-requests.ts'
import { openTable } from './run-store/table.ts'
import { CLIENT_OPTIONS } from './sdk.ts'
import { slackKeys } from './slack-keys.ts'

/** The Slack port of the function that answers clicks: small, since somebody waits for its cold start (docs/adr/dependencies.md). */
export function openSlackForClicks(core: Pick<Core, 'settings' | 'secrets'>): Slack | undefined {
  const { slack } = core.settings
  return slack === undefined ? undefined : openSlack(slack, slackKeys(core), callSlackOnce)
}

/** Two tries fit into the second that an answer to Slack may take. */
const REQUEST_MS = 700

/** As much of the RunStore port as the function that answers Slack uses: its bundle carries no more. */
export function openNotedRequests(
  { env, clock, ids }: Pick<Core, 'env' | 'clock' | 'ids'>,
  config: DynamoDBClientConfig = {},
): RunStore {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, connectionTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }
  const client = new DynamoDBClient({ ...CLIENT_OPTIONS, requestHandler, ...config })
  // A test holds the function's code to these methods (infra/aws/grants.ts gives it no other right).
  return notedRequestsOn(openTable({ client, table: requiredVariable(env, 'TABLE'), clock, ids })) as RunStore
}
