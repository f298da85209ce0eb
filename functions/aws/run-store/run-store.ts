import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import type { Core } from '../core.ts'
import { adoptOn } from './adopt.ts'
import { appendOn } from './append.ts'
import { approvalsOn } from './approvals.ts'
import { bulksOn } from './bulks.ts'
import { marksOn } from './erasure.ts'
import { eventLogOn } from './event-log.ts'
import { factsOn } from './facts.ts'
import { leasesOn } from './leases.ts'
import { listsOn } from './lists.ts'
import { notedRequestsOn } from './noted-requests.ts'
import { artifactsOn, cachedResultsOn, contextOn, joinsOn, projectionsOn } from './run-items.ts'
import { withRunMetrics } from './run-metrics.ts'
import { headsOn, runsOn } from './runs.ts'
import { openTable, type RunTableOptions, tableClient } from './table.ts'
import {
  cursorsOn,
  goalAttemptsOn,
  keyQueuesOn,
  lineageOn,
  requestRateOn,
  runQueueOn,
  startHoldsOn,
  storedBytesOn,
  turnsOn,
} from './tenant-items.ts'
import { viewsOn } from './views.ts'

/** The RunStore port on DynamoDB, for the table the environment names. */
export function openRunStore(
  { env, clock, ids, settings }: Pick<Core, 'env' | 'clock' | 'ids' | 'settings'>,
  config: DynamoDBClientConfig = {},
): RunStore {
  const { retention_days } = settings.safety
  const store = runStoreOn({ ...tableClient(env, config), clock, ids, retention_days })
  return withRunMetrics(store, { stage: env.STAGE, release: env.RELEASE, now: clock.now })
}

/**
 * The run store on a table of the shape of shared/runs/dynamodb-table.ts. Every write is one conditional update that is safe to
 * repeat, so the client may retry as it likes: no transactions, no counters, no scans. Faults beside the port's own:
 * Unavailable (throttled, 5xx, network; store_busy), LimitExceeded item_too_large.
 */
export function runStoreOn(options: RunTableOptions): RunStore {
  const table = openTable(options)
  const cursors = cursorsOn(table, (bytes) => options.ids.random(bytes))
  const runs = runsOn(table)
  return {
    ...runs,
    ...appendOn(table),
    ...headsOn(table),
    ...eventLogOn(table),
    ...adoptOn(table),
    ...listsOn(table, cursors),
    // Beside HEAD: each has its own condition, none moves the run.
    ...approvalsOn(table),
    ...projectionsOn(table),
    ...joinsOn(table),
    ...contextOn(table),
    ...artifactsOn(table),
    ...factsOn(table, runs.meta),
    ...cachedResultsOn(table),
    ...marksOn(table),
    // The tenant's, not one run's.
    ...leasesOn(table),
    ...runQueueOn(table),
    ...keyQueuesOn(table),
    ...startHoldsOn(table),
    ...turnsOn(table),
    ...requestRateOn(table),
    ...storedBytesOn(table),
    ...lineageOn(table),
    ...goalAttemptsOn(table),
    ...notedRequestsOn(table),
    ...bulksOn(table),
    ...viewsOn(table),
  }
}
