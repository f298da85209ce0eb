import type { DatabaseSync } from 'node:sqlite'
import type { Log } from '../../shared/ports/host.ts'
import { removeEndedExecutions } from './asl/sqlite-journal.ts'
import { removeOldObjects } from './folder-objects.ts'
import { entityBodyPredicate, removeRunEntities } from './graph-store/retention.ts'
import { endedRunsRemover, removeOldSharedItems } from './run-store/retention.ts'

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
    removeEndedExecutions(db, cutoff)
    const oldest = Math.min(cutoff - OBJECTS_LONGER_DAYS * DAY_MS, oldestLiving(db) - retention_days * DAY_MS)
    const objects = await removeOldObjects(folder, oldest, entityBodyPredicate(db))
    if (runs + objects > 0) log.info('removed what was older than the retention', { runs, objects, retention_days })
  }
}

/** When the oldest run that lives began, in ms. */
function oldestLiving(db: DatabaseSync): number {
  const row = db.prepare("SELECT min(created_at) AS at FROM runs WHERE state = 'running'").get()
  return typeof row?.at === 'string' ? Date.parse(row.at) : Number.POSITIVE_INFINITY
}
