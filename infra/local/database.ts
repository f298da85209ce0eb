import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'
import { storeFault } from './store-fault.ts'

/** 'Sluc' in the file's header tells our file from any other SQLite file. */
const APPLICATION_ID = 0x536c7563
/** Raised when a table changes its shape; an older program refuses a newer file. */
export const SCHEMA_VERSION = 5

/**
 * WAL with synchronous NORMAL: a commit survives the end of this process however it comes; a power cut may lose the
 * last commits but never tears one. A checkpoint each 16,000 pages (32 MB): its fsyncs are the dearest part of a
 * steady stream of small commits. EXCLUSIVE: the folder's lock admits one process anyway, and the file locks around each
 * statement cost a quarter of an append; so the file is read with other programs while no place is open on it.
 */
const PRAGMAS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 16000;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY;`

/**
 * Opens `sluice.db` in the data folder, making both when they are not there; ':memory:' keeps everything in memory.
 * Fault InvalidInput not_our_database or database_newer, Bug database_corrupt, Unavailable store_busy or
 * store_unavailable; the file is left as it was.
 */
export function openDatabase(folder: string): DatabaseSync {
  const file = folder === ':memory:' ? folder : join(folder, 'sluice.db')
  let db: DatabaseSync | undefined
  try {
    if (folder !== ':memory:') makeClosed(folder, file)
    db = new DatabaseSync(file, { timeout: 5_000 })
    requireOurs(db, file)
    db.exec(PRAGMAS)
    return db
  } catch (cause) {
    db?.close()
    throw storeFault(cause, `open "${file}"`)
  }
}

/** SQLite gives the files beside it the mode of this one. */
function makeClosed(folder: string, file: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
}

function requireOurs(db: DatabaseSync, file: string): void {
  const found = readHeader(db)
  if (found.application_id === 0 && found.user_version === 0 && found.objects === 0) {
    // Small pages: a commit writes whole ones. The size is fixed by the first write.
    db.exec(
      `PRAGMA page_size = 2048; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`,
    )
  } else if (found.application_id !== APPLICATION_ID) {
    const message = `Cannot open "${file}": it is a SQLite file of another program (application id ${found.application_id}). Move it away, or choose another data folder.`
    throw new Fault('InvalidInput', 'not_our_database', message)
  } else if (found.user_version > SCHEMA_VERSION) {
    const message = `Cannot open "${file}": it has schema ${found.user_version}, this version of Sluice knows up to ${SCHEMA_VERSION}. Update Sluice, or choose another data folder.`
    throw new Fault('InvalidInput', 'database_newer', message)
  }
}

interface Header {
  readonly application_id: number
  readonly user_version: number
  readonly objects: number
}

function readHeader(db: DatabaseSync): Header {
  const sql = `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) AS objects
    FROM pragma_application_id, pragma_user_version`
  // The row has exactly the columns the statement names, all integers.
  return db.prepare(sql).get() as unknown as Header
}
