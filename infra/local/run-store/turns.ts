import type { DatabaseSync } from 'node:sqlite'
import type { Turns } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'

/** Who has which turn, until when. */
export function turnsOn(db: DatabaseSync): Turns {
  const take = db.prepare(
    `INSERT INTO turns (tenant, name, holder, until) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET holder = excluded.holder, until = excluded.until
     WHERE turns.holder = excluded.holder OR turns.until <= ?`,
  )
  const end = db.prepare('DELETE FROM turns WHERE tenant = ? AND name = ? AND holder = ?')
  return {
    takeTurn: ({ tenant, name }, by, now, until) =>
      commitTogether(db, () => take.run(tenant, name, by, until, now).changes > 0),
    endTurn: ({ tenant, name }, by) =>
      commitTogether(db, () => {
        end.run(tenant, name, by)
      }),
  }
}
