import type { DatabaseSync } from 'node:sqlite'
import { transaction } from '../transaction.ts'

/** Forgets executions that began before that time (ms), have ended, and whose run is gone. */
export function removeEndedExecutions(db: DatabaseSync, before: number): void {
  transaction(db, () => {
    db.prepare(
      `DELETE FROM machine_executions WHERE end IS NOT NULL AND started_at < ? AND json_valid(input) AND NOT EXISTS (
        SELECT 1 FROM runs WHERE tenant = CASE WHEN json_valid(input) THEN input ->> '$.tenant' END
          AND run_id = CASE WHEN json_valid(input) THEN input ->> '$.run_id' END)`,
    ).run(before)
  })
}
