import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { spentByEvents } from '../../../shared/runs/cost.ts'
import type { NewEvent } from '../../../shared/runs/event.ts'
import { eventRow } from '../../../shared/runs/event-types.ts'
import { type RunStore, runsPool } from '../../../shared/runs/run-store.ts'
import type { Core } from '../core.ts'
import { appendOn } from './append.ts'
import { approvalsOn } from './approvals.ts'
import { leasesOn, runQueueOn, startHoldsOn, turnsOn } from './leases.ts'
import { cursorsOn, listsOn } from './lists.ts'
import { eventLogOn } from './log.ts'
import { artifactsOn, cachedResultsOn, contextOn, joinsOn, projectionsOn } from './run-items.ts'
import { headsOn, runsOn } from './runs.ts'
import { openTable, type RunTableOptions, tableClient } from './table.ts'
import { goalAttemptsOn, lineageOn, notedRequestsOn, requestRateOn, storedBytesOn } from './tenant-items.ts'

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
  const cursors = cursorsOn(table, (bytes) => options.ids.random(bytes))
  return {
    ...runsOn(table),
    ...appendOn(table),
    ...headsOn(table),
    ...eventLogOn(table),
    ...listsOn(table, cursors),
    // Beside HEAD: each has its own condition, none moves the run.
    ...approvalsOn(table),
    ...projectionsOn(table),
    ...joinsOn(table),
    ...contextOn(table),
    ...artifactsOn(table),
    ...cachedResultsOn(table),
    // The tenant's, not one run's.
    ...leasesOn(table),
    ...runQueueOn(table),
    ...startHoldsOn(table),
    ...turnsOn(table),
    ...requestRateOn(table),
    ...storedBytesOn(table),
    ...lineageOn(table),
    ...goalAttemptsOn(table),
    ...notedRequestsOn(table),
  }
}

interface CountingOptions {
  readonly stage: string
  readonly now: () => number
  /** Default: standard output, which Lambda hands to CloudWatch. */
  readonly write?: (line: string) => void
}

/**
 * The store, which also says what it took: metrics (EMF) of namespace Sluice by stage, so what is drawn and what alarms
 * look at is what the events say, whichever function appended them. No dimension but the stage: CloudWatch bills each
 * combination, and runs have no end. `runs_due`, `runs_active` and `places_overdue` come from the sweep's own reads.
 */
export function countAppends(store: RunStore, { stage, now, write = writeLine }: CountingOptions): RunStore {
  const say = (values: Metrics) => {
    if (Object.keys(values).length > 0) write(JSON.stringify(lineOf(values, stage, now())))
  }
  return {
    ...store,
    async create(run) {
      const made = await store.create(run)
      if (made.created) say({ runs_started: 1 })
      return made
    },
    async append(append) {
      const appended = await store.append(append)
      if (appended.ok) say(metricsOf(append.events))
      return appended
    },
    async due(at, limit) {
      const runs = await store.due(at, limit)
      say({ runs_due: runs.length })
      return runs
    },
    async leases(pool) {
      const leases = await store.leases(pool)
      if (pool.name !== runsPool(pool.tenant).name) return leases
      const ends = Object.values(leases)
      say({ runs_active: ends.length, places_overdue: ends.filter((end) => Date.parse(end) < now()).length })
      return leases
    },
  }
}

type Metrics = Readonly<Record<string, number>>

function metricsOf(events: readonly NewEvent[]): Metrics {
  const sums: Record<string, number> = {}
  const add = (name: string, value: number) => {
    if (value > 0) sums[name] = (sums[name] ?? 0) + value
  }
  for (const event of events) {
    const metric = eventRow(event)?.metric
    if (typeof metric === 'string') add(metric, 1)
    else for (const [name, value] of Object.entries(metric?.(event.data) ?? {})) add(name, value)
  }
  const { tokens, usd_micros } = spentByEvents(events)
  add('tokens', tokens)
  add('usd', usd_micros / 1_000_000)
  return sums
}

/** Units that are no counts. */
const UNITS: Readonly<Record<string, string>> = { provider_ms: 'Milliseconds', usd: 'None' }

function lineOf(values: Metrics, stage: string, at: number) {
  const Metrics = Object.keys(values).map((Name) => ({ Name, Unit: UNITS[Name] ?? 'Count' }))
  const CloudWatchMetrics = [{ Namespace: 'Sluice', Dimensions: [['stage']], Metrics }]
  return { stage, ...values, _aws: { Timestamp: at, CloudWatchMetrics } }
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
