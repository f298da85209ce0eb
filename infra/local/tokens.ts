import type { DatabaseSync } from 'node:sqlite'
import { KEPT_DAYS, type StoredToken, type Tokens } from '../../shared/auth/token.ts'
import type { Clock } from '../../shared/ports/host.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { transaction } from './database.ts'
import { query } from './run-store/query.ts'

interface Row {
  readonly body: string
  readonly revoked: string | null
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS tokens (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, expires_at TEXT NOT NULL, body TEXT NOT NULL, revoked TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tokens_expiring ON tokens (expires_at);`

/** The Tokens port of the local place, in an open database; makes its table when it is not there. */
export function openTokens(db: DatabaseSync, clock: Pick<Clock, 'now'>): Tokens {
  transaction(db, () => db.exec(SCHEMA))
  const one = query<Row>(db, 'SELECT body, revoked FROM tokens WHERE id = ?')
  const all = query<Row>(db, 'SELECT body, revoked FROM tokens WHERE tenant = ? ORDER BY id')
  const insert = db.prepare(
    'INSERT OR IGNORE INTO tokens (id, tenant, expires_at, body, revoked) VALUES (?, ?, ?, ?, ?)',
  )
  const forget = db.prepare('DELETE FROM tokens WHERE expires_at < ?')
  const revoke = db.prepare('UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ? AND tenant = ?')
  const get = (id: string) => read(one.one(id))
  return {
    get: async (id) => get(id),
    list: async (tenant) => all.all(tenant).flatMap((row) => read(row) ?? []),
    put: async ({ revoked, ...token }) =>
      transaction(db, () => {
        forget.run(new Date(clock.now() - KEPT_DAYS * DAY_MS).toISOString())
        const { id, tenant, expires_at } = token
        insert.run(
          id,
          tenant,
          expires_at,
          JSON.stringify(token),
          revoked === undefined ? null : JSON.stringify(revoked),
        )
        return (
          canonicalJson(get(id) ?? null) === canonicalJson({ ...token, ...(revoked === undefined ? {} : { revoked }) })
        )
      }),
    revoke: async (tenant, id, revoked) =>
      transaction(db, () => {
        revoke.run(JSON.stringify(revoked), id, tenant)
        const token = get(id)
        return token?.tenant === tenant ? token : undefined
      }),
  }
}

const DAY_MS = 86_400_000

/** Our own text. */
function read(row: Row | undefined): StoredToken | undefined {
  if (row === undefined) return undefined
  const token = JSON.parse(row.body)
  return row.revoked === null ? token : { ...token, revoked: JSON.parse(row.revoked) }
}
