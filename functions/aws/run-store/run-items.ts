import type { RunStore } from '../../../shared/runs/run-store.ts'
import { approvalsOf } from './approvals.ts'
import { artifactsOf } from './artifacts.ts'
import { cachedOf } from './cached.ts'
import { contextOf } from './context.ts'
import { joinsOf } from './joins.ts'
import { projectionsOf } from './projections.ts'
import type { RunTable } from './run-table.ts'
import { tenantItemsOf } from './tenant-items.ts'

type Items =
  | keyof ReturnType<typeof projectionsOf>
  | keyof ReturnType<typeof approvalsOf>
  | keyof ReturnType<typeof joinsOf>
  | keyof ReturnType<typeof contextOf>
  | keyof ReturnType<typeof artifactsOf>
  | keyof ReturnType<typeof cachedOf>
  | keyof ReturnType<typeof tenantItemsOf>

/** The items beside HEAD: each has its own condition, none moves the run. */
export function itemsOf(table: RunTable): Pick<RunStore, Items> {
  return {
    ...projectionsOf(table),
    ...approvalsOf(table),
    ...joinsOf(table),
    ...contextOf(table),
    ...artifactsOf(table),
    ...cachedOf(table),
    ...tenantItemsOf(table),
  }
}
