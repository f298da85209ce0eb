import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock, Log } from '../../shared/ports/host.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { removeEndedExecutions } from './asl/sqlite-journal.ts'
import { truncateWhenIdle } from './database.ts'
import { removeOldObjects } from './folder-objects.ts'
import { entityBodyPredicate, removeRunEntities } from './graph-store/retention.ts'
import { endedRunsRemover, removeOldSharedItems } from './run-store/retention.ts'
import { removeOldRows } from './stored-objects.ts'
import { removeOldFirings } from './triggers.ts'

interface SweepParts {
  /** Milliseconds between two sweeps. */
  readonly ms: number
  /** Calls the function. */
  readonly sweep: () => Promise<unknown>
  /** Calls the one that looks at triggers; absent where documents start nothing by themselves. */
  readonly fire?: () => Promise<unknown>
  /** Calls the one that removes machines nothing needs. */
  readonly clear: () => Promise<unknown>
  readonly settings: Settings
  readonly db: DatabaseSync
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/**
 * Sweeps the runs that are due, and looks at triggers; each hour what is older than the retention, and machines; empties the WAL of a place that
 * rests. Answers how to stop.
 */
export function startSweeps({ ms, sweep, fire, clear, settings, db, clock, log }: SweepParts): () => Promise<void> {
  const folder = join(settings.data_dir, 'objects')
  const { retention_days } = settings.safety
  const retain = createRetention({ db, folder, retention_days, log })
  const truncate = truncateWhenIdle(db)
  const stops = [
    startSweep(ms, sweep, log),
    ...(fire === undefined ? [] : [startSweep(ms, fire, log)]),
    startSweep(IDLE_MS, async () => truncate(), log),
    startSweep(RETENTION_MS, () => retain(clock.now()), log),
    startSweep(RETENTION_MS, clear, log),
  ]
  return async () => {
    for (const stop of stops) await stop()
  }
}

/** Between two looks at whether anybody writes. */
const IDLE_MS = 5_000

/** The first time an hour after the start: a place that is opened for one command has other things to do. */
const RETENTION_MS = 3_600_000

/** Calls `sweep` each `ms`, never two at a time. Answers how to stop: it waits for one under way. */
function startSweep(ms: number, sweep: () => Promise<unknown>, log: Log): () => Promise<void> {
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay ??= sweep()
      .then(
        () => {},
        (error: unknown) => log.error('sweep failed', { error: String(error) }),
      )
      .finally(() => {
        underWay = undefined
      })
  }, ms)
  // A place that is only used in-process must not keep the process alive by looking.
  timer.unref()
  return async () => {
    clearInterval(timer)
    await underWay
  }
}

const DAY_MS = 86_400_000

/** Objects stay so much longer than what names them, as on AWS. */
const OBJECTS_LONGER_DAYS = 30

interface RetentionParts {
  readonly db: DatabaseSync
  /** Of the objects. */
  readonly folder: string
  readonly retention_days: number
  readonly log: Pick<Log, 'info'>
}

/**
 * The local twin of the table's and the bucket's expiry: ended runs are removed, whole, `retention_days` after their last
 * event, what a research run wrote of itself into the graph with it, kept results as long after they were made, objects
 * 30 days later, counted from their last write. What a run that lives may name is not: no object that was written within
 * `retention_days` before the oldest of them began; nor is the body of an entity.
 */
export function createRetention({ db, folder, retention_days, log }: RetentionParts): (now: number) => Promise<void> {
  const removeRuns = endedRunsRemover(db)
  return async (now) => {
    const cutoff = now - retention_days * DAY_MS
    const before = new Date(cutoff).toISOString()
    let runs = 0
    for (let more = removeRuns(before); more > 0; more = removeRuns(before)) {
      runs += more
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    removeRunEntities(db)
    removeOldSharedItems(db, before)
    removeOldFirings(db, before)
    removeEndedExecutions(db, cutoff)
    const oldest = Math.min(cutoff - OBJECTS_LONGER_DAYS * DAY_MS, oldestLiving(db) - retention_days * DAY_MS)
    const isBody = entityBodyPredicate(db)
    const objects = (await removeOldRows(db, oldest, isBody)) + (await removeOldObjects(folder, oldest, isBody))
    if (runs + objects > 0) log.info('removed what was older than the retention', { runs, objects, retention_days })
  }
}

/** When the oldest run that lives began, in ms. */
function oldestLiving(db: DatabaseSync): number {
  const row = db.prepare("SELECT min(created_at) AS at FROM runs WHERE state = 'running'").get()
  return typeof row?.at === 'string' ? Date.parse(row.at) : Number.POSITIVE_INFINITY
}
