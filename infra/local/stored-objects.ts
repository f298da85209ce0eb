import type { DatabaseSync } from 'node:sqlite'
import {
  hashOfObjectRef,
  hashOfOwnObjectRef,
  type ObjectStore,
  objectFault,
  objectKey,
} from '../../shared/ports/objects.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { commitTogether, transaction } from './database.ts'
import { query } from './run-store/query.ts'

/**
 * Bodies up to this size are rows of the database: a file takes a block of the disk, mostly 4 KiB, and two names. A row of a
 * table without rowids may keep 1,002 bytes of a page of 4 KiB (sqlite.org/fileformat2.html, "Cell Payload Overflow
 * Pages"), tenant and hash with it; what is longer would take a page of its own.
 */
export const MOST_IN_ROW = 880

/** A tenant's objects by their hash. `written_at` (ms) is when an object's age began. */
const TABLE = `
CREATE TABLE IF NOT EXISTS objects (
  tenant TEXT NOT NULL, sha256 BLOB NOT NULL, written_at INTEGER NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (tenant, sha256)) WITHOUT ROWID;`

/** Ages are looked at in days: what is put again and again is not written each time. */
const AGE_MS = 3_600_000

interface Row {
  readonly body: Uint8Array
}

/**
 * The object store of the local place: small bodies in its database, the others in `files`. What was put is committed when
 * the promise resolves, together with whatever else that turn of the loop writes. In a folder of an earlier version small
 * bodies are files too, and are read there.
 */
export function openStoredObjects(db: DatabaseSync, files: ObjectStore): ObjectStore {
  db.exec(TABLE)
  const row = query<Row>(db, 'SELECT body FROM objects WHERE tenant = ? AND sha256 = ?')
  const there = query(db, 'SELECT 1 FROM objects WHERE tenant = ? AND sha256 = ?')
  const write = db.prepare(
    `INSERT INTO objects (tenant, sha256, written_at, body) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET written_at = excluded.written_at, body = excluded.body
     WHERE excluded.body <> body OR excluded.written_at > written_at + ${AGE_MS}`,
  )
  return {
    put: async (tenant, body) => {
      if (body.byteLength > MOST_IN_ROW) return files.put(tenant, body)
      const hash = sha256(body)
      // Refuses what is no name of a tenant.
      objectKey(tenant, hash)
      await commitTogether(db, () => {
        write.run(tenant, Buffer.from(hash, 'hex'), Date.now(), body)
      })
      return { ref: `objstore://${tenant}/${hash}`, sha256: hash, bytes: body.byteLength }
    },
    get: async (tenant, ref) => {
      const hash = hashOfObjectRef(tenant, ref)
      const found = row.one(tenant, Buffer.from(hash, 'hex'))
      if (found === undefined) return files.get(tenant, ref)
      if (sha256(found.body) !== hash) throw objectFault('corrupt', ref)
      return found.body
    },
    has: async (tenant, ref) => {
      const hash = hashOfOwnObjectRef(tenant, ref)
      if (hash === undefined) return false
      return there.one(tenant, Buffer.from(hash, 'hex')) !== undefined || files.has(tenant, ref)
    },
  }
}

/** So many a transaction: others write in between. */
const AT_ONCE = 500

interface OldRow {
  readonly tenant: string
  readonly sha256: Uint8Array
}

/** Removes every row that was last written before that time (ms) and that nobody `keeps`; answers how many. */
export async function removeOldRows(
  db: DatabaseSync,
  before: number,
  keeps: (sha256: string) => boolean,
): Promise<number> {
  const old = query<OldRow>(
    db,
    `SELECT tenant, sha256 FROM objects WHERE (tenant, sha256) > (?, ?) AND written_at < ?
     ORDER BY tenant, sha256 LIMIT ${AT_ONCE}`,
  )
  const remove = db.prepare('DELETE FROM objects WHERE tenant = ? AND sha256 = ?')
  let removed = 0
  let last: OldRow | undefined = { tenant: '', sha256: new Uint8Array() }
  while (last !== undefined) {
    const { tenant, sha256: after }: OldRow = last
    const rows = transaction(db, () => {
      const found = old.all(tenant, after, before)
      const gone = found.filter((one) => !keeps(Buffer.from(one.sha256).toString('hex')))
      for (const one of gone) remove.run(one.tenant, one.sha256)
      removed += gone.length
      return found
    })
    last = rows.length < AT_ONCE ? undefined : rows.at(-1)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return removed
}
