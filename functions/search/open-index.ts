import { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'
import { INDEX_APPLICATION_ID, INDEX_SCHEMA, INDEX_VERSION } from './index-schema.ts'

/** Pages kept in memory, KiB: the index of 100,000 entities fits into a function of 512 MB with its file in the page cache. */
const CACHE_KIB = 65_536

/**
 * Opens an index file to write to it, making it when it is new (':memory:' too). undefined: it is of another version and
 * must be made anew. Fault Unavailable index_unavailable where it is no index or cannot be opened.
 */
export function openIndexToWrite(file: string): DatabaseSync | undefined {
  return opening(file, () => {
    const db = new DatabaseSync(file, { timeout: 5_000 })
    const { application_id, user_version, objects } = headerOf(db)
    if (application_id === 0 && objects === 0) {
      db.exec(
        `PRAGMA application_id = ${INDEX_APPLICATION_ID}; PRAGMA user_version = ${INDEX_VERSION}; ${INDEX_SCHEMA}`,
      )
    } else if (application_id !== INDEX_APPLICATION_ID) {
      db.close()
      throw new Error('it is a SQLite file of another program')
    } else if (user_version !== INDEX_VERSION) {
      db.close()
      return undefined
    }
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`)
    return db
  })
}

/** Opens a snapshot, which nobody changes. undefined: it is of another version. Fault as above. */
export function openIndexToRead(file: string): DatabaseSync | undefined {
  return opening(file, () => {
    const db = new DatabaseSync(file, { readOnly: true })
    const { application_id, user_version } = headerOf(db)
    if (application_id === INDEX_APPLICATION_ID && user_version === INDEX_VERSION) {
      db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`)
      return db
    }
    db.close()
    return undefined
  })
}

/** What `index_info` remembers under a key. */
export function indexInfo(db: DatabaseSync, key: string): string | undefined {
  const row = db.prepare('SELECT value FROM index_info WHERE key = ?').get(key)
  return typeof row?.value === 'string' ? row.value : undefined
}

interface Header {
  readonly application_id: number
  readonly user_version: number
  readonly objects: number
}

function headerOf(db: DatabaseSync): Header {
  const sql = `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) AS objects
    FROM pragma_application_id, pragma_user_version`
  // The row has exactly the columns the statement names, all integers.
  return db.prepare(sql).get() as unknown as Header
}

function opening<T>(file: string, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    const seen = cause instanceof Error ? cause.message : String(cause)
    const message = `Cannot open the search index "${file}": ${seen}. Check the disk; an index can be removed, it is made anew from the graph.`
    throw new Fault('Unavailable', 'index_unavailable', message, { cause })
  }
}
