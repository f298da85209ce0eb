import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

interface Row {
  readonly done: string
  readonly need: number | null
  readonly tokens: string
}

/** J#: a set of the sources that are done, and who waits for them (docs/architecture.md, "Joins"). */
export function joinsOf(db: DatabaseSync): Pick<RunStore, 'waitJoin' | 'signalJoin'> {
  const numberOf = runNumbers(db)
  const count = query<{ readonly done: number }>(db, 'SELECT count(*) AS done FROM join_done WHERE run = ? AND key = ?')
  const wait = db.prepare(
    `INSERT INTO join_waits (run, key, token, need) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET need = excluded.need`,
  )
  const add = db.prepare('INSERT OR IGNORE INTO join_done (run, key, source) VALUES (?, ?, ?)')
  const item = query<Row>(
    db,
    `SELECT max(need) AS need, json_group_array(token ORDER BY token) AS tokens,
       (SELECT json_group_array(source ORDER BY source) FROM join_done WHERE run = ?1 AND key = ?2) AS done
     FROM join_waits WHERE run = ?1 AND key = ?2`,
  )
  return {
    waitJoin: (key, join, { need, token }) =>
      commitTogether(db, () => {
        const run = requireRun(numberOf(key), key)
        if ((count.one(run, join)?.done ?? 0) >= need) return 'done'
        wait.run(run, join, token, need)
        return 'waiting'
      }),
    signalJoin: (key, join, source) =>
      commitTogether(db, () => {
        const run = requireRun(numberOf(key), key)
        add.run(run, join, source)
        const { done = '[]', need = null, tokens = '[]' } = item.one(run, join) ?? {}
        return { done: JSON.parse(done), tokens: JSON.parse(tokens), ...(need === null ? {} : { need }) }
      }),
  }
}
