import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { CLIENT_OPTIONS } from '../client-options.ts'
import { required } from '../named-setting.ts'
import type { Core } from '../world.ts'
import { notedRequestsOf } from './noted-requests.ts'
import { openTable } from './run-table.ts'

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
  return notedRequestsOf(openTable({ client, table: required(env, 'TABLE'), clock, ids })) as RunStore
}
