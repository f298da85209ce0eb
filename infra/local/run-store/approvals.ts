import type { DatabaseSync } from 'node:sqlite'
import type { ApprovalItem, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

interface Row {
  readonly item: string
  readonly token: string | null
}

/** A#: what a person was shown, with the task token. A row may be there for HEAD's part alone. */
export function approvalsOf(db: DatabaseSync): Pick<RunStore, 'putApproval' | 'approval' | 'approvals'> {
  const numberOf = runNumbers(db)
  const put = db.prepare(
    `INSERT INTO approvals (run, id, item, token) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET item = excluded.item, token = excluded.token`,
  )
  const one = query<Row>(db, 'SELECT item, token FROM approvals WHERE run = ? AND id = ? AND item IS NOT NULL')
  const all = query<Row>(db, 'SELECT item, token FROM approvals WHERE run = ? AND item IS NOT NULL ORDER BY id')
  return {
    putApproval: (key, { token, ...item }) =>
      commitTogether(db, () => {
        put.run(requireRun(numberOf(key), key), item.id, JSON.stringify(item), token ?? null)
      }),
    approval: async (key, id) => {
      const run = numberOf(key)
      const row = run === undefined ? undefined : one.one(run, id)
      return row === undefined ? undefined : itemOf(row)
    },
    approvals: async (key) => {
      const run = numberOf(key)
      return run === undefined ? [] : all.all(run).map(itemOf)
    },
  }
}

function itemOf({ item, token }: Row): ApprovalItem {
  const approval: ApprovalItem = JSON.parse(item)
  return token === null ? approval : { ...approval, token }
}
