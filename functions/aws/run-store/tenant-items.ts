import type { RunStore } from '../../../shared/runs/run-store.ts'
import { goalAttemptsOf } from './goal-attempts.ts'
import { leasesOf } from './leases.ts'
import { lineageOf } from './lineage.ts'
import { notedRequestsOf } from './noted-requests.ts'
import { rateOf } from './request-rate.ts'
import { queueOf } from './run-queue.ts'
import type { RunTable } from './run-table.ts'
import { holdsOf } from './start-hold.ts'
import { storedBytesOf } from './stored-bytes.ts'
import { turnsOf } from './turns.ts'

type Items =
  | keyof ReturnType<typeof leasesOf>
  | keyof ReturnType<typeof queueOf>
  | keyof ReturnType<typeof holdsOf>
  | keyof ReturnType<typeof rateOf>
  | keyof ReturnType<typeof storedBytesOf>
  | keyof ReturnType<typeof lineageOf>
  | keyof ReturnType<typeof goalAttemptsOf>
  | keyof ReturnType<typeof notedRequestsOf>
  | keyof ReturnType<typeof turnsOf>

/** What is the tenant's, not one run's. */
export function tenantItemsOf(table: RunTable): Pick<RunStore, Items> {
  return {
    ...leasesOf(table),
    ...queueOf(table),
    ...holdsOf(table),
    ...rateOf(table),
    ...storedBytesOf(table),
    ...lineageOf(table),
    ...goalAttemptsOf(table),
    ...notedRequestsOf(table),
    ...turnsOf(table),
  }
}
