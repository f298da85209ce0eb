import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { GraphStore } from '../../../shared/graph/graph-store.ts'
import { CLIENT_OPTIONS } from '../client-options.ts'
import { required } from '../named-setting.ts'
import type { RunTableOptions } from '../run-store/run-table.ts'
import type { Core } from '../world.ts'
import { changesOf } from './changes.ts'
import { openGraphTable } from './graph-table.ts'
import { neighboursOf } from './neighbours.ts'
import { readsOf } from './reads.ts'
import { writesOf } from './writes.ts'

/** A table call is over in milliseconds or lost. */
const REQUEST_MS = 3_000

/** The GraphStore port on DynamoDB, in the table the environment names. */
export function openGraphStore(
  { env, clock, ids, settings }: Pick<Core, 'env' | 'clock' | 'ids'> & Partial<Pick<Core, 'settings'>>,
  config: DynamoDBClientConfig = {},
): GraphStore {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  const client = new DynamoDBClient({ ...CLIENT_OPTIONS, requestHandler, ...config })
  return graphStoreOn({ client, table: required(env, 'TABLE'), clock, ids }, settings?.safety.retention_days)
}

/**
 * The graph store on a table of the shape of shared/runs/table.ts (docs/adr/0041): no transactions, no counters, no
 * scans; every write is safe to repeat. Faults beside the port's own: Unavailable (throttled, 5xx, network; store_busy).
 */
export function graphStoreOn(options: RunTableOptions, retention_days = 0): GraphStore {
  const table = openGraphTable(options, retention_days)
  return { ...writesOf(table), ...readsOf(table), ...neighboursOf(table), ...changesOf(table) }
}
