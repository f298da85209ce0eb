import type { DatabaseSync, StatementSync } from 'node:sqlite'
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
 * Bodies up to this size lie in the row that names them. A row of a table without rowids may keep 1,002 bytes of a page of
 * 4 KiB (sqlite.org/fileformat2.html, "Cell Payload Overflow Pages"), tenant and hash with it; what is longer would take a
 * page of its own.
 */
export const MOST_IN_ROW = 880

/**
 * Longer ones up to this size lie one behind the other in a table of their own, and the row names the place: in the order of
 * their hashes each would be written to another page. What is larger is a file, which takes a block of the disk (mostly
 * 4 KiB), two names, and a wait of its own where `durability` is full.
 */
export const MOST_IN_DATABASE = 16_384

/** A tenant's objects by their hash. `written_at` (ms) is when an object's age began. */
const TABLES = `
CREATE TABLE IF NOT EXISTS objects (
  tenant TEXT NOT NULL, sha256 BLOB NOT NULL, written_at INTEGER NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (tenant, sha256)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS long_objects (
  tenant TEXT NOT NULL, sha256 BLOB NOT NULL, written_at INTEGER NOT NULL, place INTEGER NOT NULL,
  PRIMARY KEY (tenant, sha256)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS long_bodies (place INTEGER PRIMARY KEY, body BLOB NOT NULL);`

/** Ages are looked at in days: what is put again and again is not written each time. */
const AGE_MS = 3_600_000

/** Puts that wrote nothing are known by so many of them; from then on each writes. */
const MOST_UNWRITTEN = 50_000

interface Row {
  readonly written_at: number
  readonly body: Uint8Array
}

/**
 * The object store of the local place: bodies of up to 16 KiB in its database, the others in `files`. What was put is
 * committed when the promise resolves, together with whatever else that turn of the loop writes. In a folder of an earlier
 * version these bodies are files too, and are read there.
 */
export function openStoredObjects(db: DatabaseSync, files: ObjectStore): ObjectStore {
  db.exec(TABLES)
  const row = query<Row>(
    db,
    `SELECT written_at, body FROM objects WHERE tenant = ?1 AND sha256 = ?2
     UNION ALL SELECT written_at, body FROM long_objects JOIN long_bodies USING (place) WHERE tenant = ?1 AND sha256 = ?2`,
  )
  const there = query(
    db,
    `SELECT 1 FROM objects WHERE tenant = ?1 AND sha256 = ?2
     UNION ALL SELECT 1 FROM long_objects WHERE tenant = ?1 AND sha256 = ?2`,
  )
  const short = shortWriter(db)
  const long = longWriter(db)
  const erase = rowEraser(db)
  /** When what was kept already was put last: an erasure must not take what somebody is about to name. */
  const unwritten = new Map<string, number>()
  return {
    put: async (tenant, body) => {
      if (body.byteLength > MOST_IN_DATABASE) return files.put(tenant, body)
      const hash = sha256(body)
      // Refuses what is no name of a tenant.
      objectKey(tenant, hash)
      const written = { tenant, hash: Buffer.from(hash, 'hex'), body, now: Date.now() }
      const write = body.byteLength > MOST_IN_ROW ? long : short
      const isThere = isKept(row.one(tenant, written.hash), written)
      if (isThere && unwritten.size < MOST_UNWRITTEN) unwritten.set(`${tenant}/${hash}`, written.now)
      else await commitTogether(db, () => write(written))
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
    erase: async (tenant, ref, before) => {
      const hash = hashOfObjectRef(tenant, ref)
      const isErased = await commitTogether(db, () => {
        if ((unwritten.get(`${tenant}/${hash}`) ?? 0) >= before) return false
        return erase(tenant, Buffer.from(hash, 'hex'), before)
      })
      if (!isErased) return false
      unwritten.delete(`${tenant}/${hash}`)
      return files.erase(tenant, ref, before)
    },
  }
}

interface Written {
  readonly tenant: string
  readonly hash: Uint8Array
  readonly body: Uint8Array
  readonly now: number
}

/** It was put not long ago, and is whole. */
function isKept(found: Row | undefined, { body, now }: Written): boolean {
  return found !== undefined && now <= found.written_at + AGE_MS && Buffer.compare(found.body, body) === 0
}

function shortWriter(db: DatabaseSync): (written: Written) => void {
  const write = db.prepare(
    `INSERT INTO objects (tenant, sha256, written_at, body) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET written_at = excluded.written_at, body = excluded.body
     WHERE excluded.body <> body OR excluded.written_at > written_at + ${AGE_MS}`,
  )
  return ({ tenant, hash, body, now }) => void write.run(tenant, hash, now, body)
}

interface Place {
  readonly place: number
  readonly written_at: number
}

function longWriter(db: DatabaseSync): (written: Written) => void {
  const known = query<Place>(db, 'SELECT place, written_at FROM long_objects WHERE tenant = ? AND sha256 = ?')
  const addBody = db.prepare('INSERT INTO long_bodies (body) VALUES (?)')
  const add = db.prepare('INSERT INTO long_objects (tenant, sha256, written_at, place) VALUES (?, ?, ?, ?)')
  const repair = db.prepare(
    'INSERT INTO long_bodies (place, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body WHERE excluded.body <> body',
  )
  const age = db.prepare('UPDATE long_objects SET written_at = ? WHERE tenant = ? AND sha256 = ?')
  return ({ tenant, hash, body, now }) => {
    const found = known.one(tenant, hash)
    if (found === undefined) {
      add.run(tenant, hash, now, addBody.run(body).lastInsertRowid)
      return
    }
    repair.run(found.place, body)
    if (now > found.written_at + AGE_MS) age.run(now, tenant, hash)
  }
}

/** False: it was put since. */
function rowEraser(db: DatabaseSync): (tenant: string, hash: Uint8Array, before: number) => boolean {
  const at = query<Pick<Row, 'written_at'>>(
    db,
    `SELECT written_at FROM objects WHERE tenant = ?1 AND sha256 = ?2
     UNION ALL SELECT written_at FROM long_objects WHERE tenant = ?1 AND sha256 = ?2`,
  )
  const body = longBodyRemover(db)
  const remove = (['objects', 'long_objects'] as const).map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE tenant = ? AND sha256 = ?`),
  )
  return (tenant, hash, before) => {
    const found = at.one(tenant, hash)
    if (found !== undefined && found.written_at >= before) return false
    body.run(tenant, hash)
    for (const rows of remove) rows.run(tenant, hash)
    return true
  }
}

function longBodyRemover(db: DatabaseSync): StatementSync {
  return db.prepare(
    'DELETE FROM long_bodies WHERE place = (SELECT place FROM long_objects WHERE tenant = ? AND sha256 = ?)',
  )
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
  const body = longBodyRemover(db)
  const short = await removeOldOf(db, 'objects', before, keeps)
  return short + (await removeOldOf(db, 'long_objects', before, keeps, (one) => body.run(one.tenant, one.sha256)))
}

async function removeOldOf(
  db: DatabaseSync,
  table: 'objects' | 'long_objects',
  before: number,
  keeps: (sha256: string) => boolean,
  first?: (one: OldRow) => unknown,
): Promise<number> {
  const old = query<OldRow>(
    db,
    `SELECT tenant, sha256 FROM ${table} WHERE (tenant, sha256) > (?, ?) AND written_at < ?
     ORDER BY tenant, sha256 LIMIT ${AT_ONCE}`,
  )
  const remove = db.prepare(`DELETE FROM ${table} WHERE tenant = ? AND sha256 = ?`)
  let removed = 0
  let last: OldRow | undefined = { tenant: '', sha256: new Uint8Array() }
  while (last !== undefined) {
    const { tenant, sha256: after }: OldRow = last
    const rows = transaction(db, () => {
      const found = old.all(tenant, after, before)
      const gone = found.filter((one) => !keeps(Buffer.from(one.sha256).toString('hex')))
      for (const one of gone) {
        first?.(one)
        remove.run(one.tenant, one.sha256)
      }
      removed += gone.length
      return found
    })
    last = rows.length < AT_ONCE ? undefined : rows.at(-1)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return removed
}
