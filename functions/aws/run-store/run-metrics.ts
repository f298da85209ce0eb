import type { NewEvent } from '../../../shared/runs/event.ts'
import { eventRow } from '../../../shared/runs/event-types.ts'
import { type RunStore, runsPool } from '../../../shared/runs/run-store.ts'
import { spentByEvents } from '../../../shared/runs/usage-cost.ts'

interface CountingOptions {
  readonly stage: string
  /** Of the function that counts, where it is of one. */
  readonly release?: string | undefined
  readonly now: () => number
  /** Default: standard output, which Lambda hands to CloudWatch. */
  readonly write?: (line: string) => void
}

/**
 * The store, which also says what it took: metrics (EMF) of namespace Sluice by stage, so what is drawn and what alarms
 * look at is what the events say, whichever function appended them. No dimension but the stage: CloudWatch bills each
 * combination, and runs have no end; where releases are gradual ends of runs are counted by release too. `runs_due`, `runs_active` and `places_overdue` come from the sweep's own reads.
 */
export function withRunMetrics(store: RunStore, { stage, release, now, write = writeLine }: CountingOptions): RunStore {
  const say = (values: Metrics) => {
    if (Object.keys(values).length > 0) write(JSON.stringify(lineOf(values, { stage, release }, now())))
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

/** Ends that say whether a release works, as the alarms count them (infra/aws/monitoring.ts). */
const ENDS = new Set(['runs_completed', 'runs_partial', 'runs_failed'])

function lineOf(values: Metrics, { stage, release }: Pick<CountingOptions, 'stage' | 'release'>, at: number) {
  const Metrics = Object.keys(values).map((Name) => ({ Name, Unit: UNITS[Name] ?? 'Count' }))
  const ends = release === undefined ? [] : Metrics.filter(({ Name }) => ENDS.has(Name))
  const CloudWatchMetrics = [
    { Namespace: 'Sluice', Dimensions: [['stage']], Metrics },
    ...(ends.length === 0 ? [] : [{ Namespace: 'Sluice', Dimensions: [['stage', 'release']], Metrics: ends }]),
  ]
  const by = ends.length === 0 ? { stage } : { stage, release }
  return { ...by, ...values, _aws: { Timestamp: at, CloudWatchMetrics } }
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
