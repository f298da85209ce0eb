import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { CLIENT_OPTIONS } from '../client-options.ts'
import { required } from '../named-setting.ts'
import type { Core } from '../world.ts'

/** A table call is over in milliseconds or lost. */
const REQUEST_MS = 3_000

/** The table the environment names, and a client that asks it. */
export function tableClient(env: Core['env'], config: DynamoDBClientConfig) {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  const client = new DynamoDBClient({ ...CLIENT_OPTIONS, requestHandler, ...config })
  return { client, table: required(env, 'TABLE') }
}
