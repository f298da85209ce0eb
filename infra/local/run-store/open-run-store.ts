import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { transaction } from '../transaction.ts'
import { addColumns } from './add-columns.ts'
import { appendTo } from './append.ts'
import { sealsOf } from './chain-seal.ts'
import { runsOf } from './create.ts'
import { eventsOf } from './events.ts'
import { headsOf } from './heads.ts'
import { itemsOf } from './items.ts'
import { listsOf } from './lists.ts'
import { SCHEMA } from './schema.ts'

/** The run store of the local place, in an open database; makes its tables and views when they are not there. */
export function openRunStore(db: DatabaseSync): RunStore {
  transaction(db, () => {
    db.exec(SCHEMA)
    addColumns(db)
  })
  return {
    ...runsOf(db),
    ...appendTo(db),
    ...headsOf(db),
    ...eventsOf(db),
    ...sealsOf(db),
    ...listsOf(db),
    ...itemsOf(db),
  }
}
