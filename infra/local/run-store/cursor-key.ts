import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { transaction } from '../transaction.ts'
import { type Cursors, createCursors } from './cursors.ts'
import { query } from './query.ts'

/** Cursors under a key made once a file, so that they outlive the process. */
export function cursorsOf(db: DatabaseSync): Cursors {
  const known = query<{ readonly key: Uint8Array }>(db, 'SELECT key FROM cursor_keys')
  const key = transaction(db, () => {
    const found = known.one()
    if (found !== undefined) return found.key
    const made = randomBytes(32)
    db.prepare('INSERT INTO cursor_keys (key) VALUES (?)').run(made)
    return made
  })
  return createCursors(key)
}
