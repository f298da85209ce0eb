import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import type { Core } from '../world.ts'
import { appendTo } from './append.ts'
import { countAppends } from './count-appends.ts'
import { runsOf } from './create.ts'
import { cursorsOf } from './cursor-key.ts'
import { logOf } from './events.ts'
import { headsOf } from './heads.ts'
import { listsOf } from './lists.ts'
import { itemsOf } from './run-items.ts'
import { openTable, type RunTableOptions } from './run-table.ts'
import { tableClient } from './table-client.ts'

/** The RunStore port on DynamoDB, for the table the environment names. */
export function openRunStore(
  { env, clock, ids, settings }: Pick<Core, 'env' | 'clock' | 'ids' | 'settings'>,
  config: DynamoDBClientConfig = {},
): RunStore {
  const { retention_days } = settings.safety
  const store = runStoreOn({ ...tableClient(env, config), clock, ids, retention_days })
  return countAppends(store, { stage: env.STAGE, now: clock.now })
}

/**
 * The run store on a table of the shape of shared/runs/table.ts. Every write is one conditional update that is safe to
 * repeat, so the client may retry as it likes: no transactions, no counters, no scans. Faults beside the port's own:
 * Unavailable (throttled, 5xx, network; store_busy), LimitExceeded item_too_large.
 */
export function runStoreOn(options: RunTableOptions): RunStore {
  const table = openTable(options)
  const cursors = cursorsOf(table, (bytes) => options.ids.random(bytes))
  return {
    ...runsOf(table),
    ...appendTo(table),
    ...headsOf(table),
    ...logOf(table),
    ...listsOf(table, cursors),
    ...itemsOf(table),
  }
}
