import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { transaction } from '../database.ts'
import { appendOn } from './append.ts'
import { approvalsOn } from './approvals.ts'
import { eventLogOn, sealsOn } from './event-log.ts'
import { listsOn } from './lists.ts'
import { artifactsOn, cachedResultsOn, contextOn, joinsOn, projectionsOn, stopsOn } from './run-items.ts'
import { headsOn, runsOn } from './runs.ts'
import { addColumns, SCHEMA } from './schema.ts'
import {
  goalAttemptsOn,
  leasesOn,
  lineageOn,
  notedRequestsOn,
  requestRateOn,
  runQueueOn,
  startHoldsOn,
  storedBytesOn,
  turnsOn,
} from './tenant-items.ts'

/** The run store of the local place, in an open database; makes its tables and views when they are not there. */
export function openRunStore(db: DatabaseSync): RunStore {
  transaction(db, () => {
    db.exec(SCHEMA)
    addColumns(db)
  })
  return {
    ...runsOn(db),
    ...appendOn(db),
    ...headsOn(db),
    ...eventLogOn(db),
    ...sealsOn(db),
    ...listsOn(db),
    // Beside HEAD: each has its own condition, none moves the run.
    ...approvalsOn(db),
    ...projectionsOn(db),
    ...joinsOn(db),
    ...contextOn(db),
    ...artifactsOn(db),
    ...cachedResultsOn(db),
    ...stopsOn(db),
    // The tenant's, not one run's.
    ...leasesOn(db),
    ...runQueueOn(db),
    ...startHoldsOn(db),
    ...turnsOn(db),
    ...requestRateOn(db),
    ...storedBytesOn(db),
    ...lineageOn(db),
    ...goalAttemptsOn(db),
    ...notedRequestsOn(db),
  }
}
