import type { DatabaseSync } from 'node:sqlite'
import type { ApprovalItem } from '../../../shared/runs/run-items.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

interface Row {
  readonly item: string
}

/** A#: what a person was shown, with its task tokens. A row may be there for HEAD's part alone. */
export function approvalsOf(
  db: DatabaseSync,
): Pick<RunStore, 'putApproval' | 'approval' | 'approvals' | 'approvalTokens'> {
  const numberOf = runNumbers(db)
  const put = db.prepare(
    'INSERT INTO approvals (run, id, item) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET item = excluded.item',
  )
  const add = db.prepare('INSERT OR IGNORE INTO approval_tokens (run, id, token) VALUES (?, ?, ?)')
  const one = query<Row>(db, 'SELECT item FROM approvals WHERE run = ? AND id = ? AND item IS NOT NULL')
  const all = query<Row>(db, 'SELECT item FROM approvals WHERE run = ? AND item IS NOT NULL ORDER BY id')
  const tokens = query<{ readonly token: string }>(
    db,
    'SELECT token FROM approval_tokens WHERE run = ? AND id = ? ORDER BY token',
  )
  return {
    putApproval: (key, item, token) =>
      commitTogether(db, () => {
        const run = requireRun(numberOf(key), key)
        put.run(run, item.id, JSON.stringify(item))
        add.run(run, item.id, token)
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
    approvalTokens: async (key, id) => {
      const run = numberOf(key)
      return run === undefined ? [] : tokens.all(run, id).map(({ token }) => token)
    },
  }
}

function itemOf({ item }: Row): ApprovalItem {
  // Our own text, written above.
  return JSON.parse(item)
}
