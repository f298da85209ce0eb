import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { transaction } from '../database.ts'
import { adoptOn } from './adopt.ts'
import { appendOn } from './append.ts'
import { approvalsOn } from './approvals.ts'
import { bulksOn } from './bulks.ts'
import { marksOn } from './erasure.ts'
import { eventLogOn, sealsOn } from './event-log.ts'
import { addFacts, factsOn } from './facts.ts'
import { listsOn } from './lists.ts'
import { liveRunsOf } from './live-runs.ts'
import { artifactsOn, cachedResultsOn, contextOn, joinsOn, projectionsOn, stopsOn } from './run-items.ts'
import { headsOn, runsOn } from './runs.ts'
import { addColumns, SCHEMA } from './schema.ts'
import {
  goalAttemptsOn,
  keyQueuesOn,
  leasesOn,
  lineageOn,
  notedRequestsOn,
  requestRateOn,
  runQueueOn,
  startHoldsOn,
  storedBytesOn,
  turnsOn,
} from './tenant-items.ts'
import { viewsOn } from './views.ts'

/** The run store of the local place, in an open database; makes its tables and views when they are not there. */
export function openRunStore(db: DatabaseSync): RunStore {
  transaction(db, () => {
    db.exec(SCHEMA)
    addColumns(db)
    addFacts(db)
  })
  return {
    ...runsOn(db),
    ...appendOn(db),
    ...adoptOn(db),
    ...headsOn(db),
    ...eventLogOn(db, liveRunsOf(db).toFile),
    ...sealsOn(db, liveRunsOf(db).toFile),
    ...listsOn(db),
    // Beside HEAD: each has its own condition, none moves the run.
    ...approvalsOn(db),
    ...projectionsOn(db),
    ...joinsOn(db),
    ...contextOn(db),
    ...artifactsOn(db),
    ...factsOn(db),
    ...cachedResultsOn(db),
    ...stopsOn(db),
    ...marksOn(db),
    // The tenant's, not one run's.
    ...leasesOn(db),
    ...runQueueOn(db),
    ...keyQueuesOn(db),
    ...startHoldsOn(db),
    ...turnsOn(db),
    ...requestRateOn(db),
    ...storedBytesOn(db),
    ...lineageOn(db),
    ...goalAttemptsOn(db),
    ...notedRequestsOn(db),
    ...bulksOn(db),
    ...viewsOn(db),
  }
}
