import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

interface Row {
  readonly done: string
  readonly need: number | null
  readonly token: string | null
}

/** J#: a set of the sources that are done, and who waits for them (design compile, "Join"). */
export function joinsOf(db: DatabaseSync): Pick<RunStore, 'waitJoin' | 'signalJoin'> {
  const numberOf = runNumbers(db)
  const count = query<{ readonly done: number }>(db, 'SELECT count(*) AS done FROM join_done WHERE run = ? AND key = ?')
  const wait = db.prepare(
    `INSERT INTO join_waits (run, key, need, token) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET need = excluded.need, token = excluded.token`,
  )
  const add = db.prepare('INSERT OR IGNORE INTO join_done (run, key, source) VALUES (?, ?, ?)')
  const item = query<Row>(
    db,
    `SELECT w.need, w.token, (SELECT json_group_array(source)
       FROM (SELECT source FROM join_done WHERE run = ?1 AND key = ?2 ORDER BY source)) AS done
     FROM (SELECT 1) LEFT JOIN join_waits w ON w.run = ?1 AND w.key = ?2`,
  )
  return {
    waitJoin: (key, join, { need, token }) =>
      commitTogether(db, () => {
        const run = requireRun(numberOf(key), key)
        if ((count.one(run, join)?.done ?? 0) >= need) return 'done'
        wait.run(run, join, need, token)
        return 'waiting'
      }),
    signalJoin: (key, join, source) =>
      commitTogether(db, () => {
        const run = requireRun(numberOf(key), key)
        add.run(run, join, source)
        const { done = '[]', need = null, token = null } = item.one(run, join) ?? {}
        return { done: JSON.parse(done), ...(need === null ? {} : { need }), ...(token === null ? {} : { token }) }
      }),
  }
}
