import type { DatabaseSync } from 'node:sqlite'
import type { ApprovalItem } from '../../../shared/runs/run-items.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

interface Row {
  readonly item: string
  readonly slack: string | null
}

type Methods = 'putApproval' | 'approval' | 'approvals' | 'approvalTokens' | 'noteMessage'

/** A#: what a person was shown, with its task tokens. A row may be there for HEAD's part alone. */
export function approvalsOf(db: DatabaseSync): Pick<RunStore, Methods> {
  const numberOf = runNumbers(db)
  // What was asked first stays; HEAD's part may have been there before.
  const put = db.prepare(
    'INSERT INTO approvals (run, id, item) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET item = COALESCE(item, excluded.item)',
  )
  const add = db.prepare('INSERT OR IGNORE INTO approval_tokens (run, id, token) VALUES (?, ?, ?)')
  const one = query<Row>(db, `${READ} AND a.id = ?`)
  const all = query<Row>(db, `${READ} ORDER BY a.id`)
  const note = db.prepare(
    `INSERT INTO approval_messages (run, id, body) SELECT run, id, ? FROM approvals WHERE run = ? AND id = ? AND item IS NOT NULL
     ON CONFLICT DO NOTHING`,
  )
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
    noteMessage: (key, id, message) =>
      commitTogether(db, () => {
        note.run(JSON.stringify(message), requireRun(numberOf(key), key), id)
      }),
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

const READ = `SELECT a.item, m.body AS slack FROM approvals a LEFT JOIN approval_messages m ON m.run = a.run AND m.id = a.id
  WHERE a.run = ? AND a.item IS NOT NULL`

function itemOf({ item, slack }: Row): ApprovalItem {
  // Our own texts, written above.
  return { ...JSON.parse(item), ...(slack === null ? {} : { slack: JSON.parse(slack) }) }
}
