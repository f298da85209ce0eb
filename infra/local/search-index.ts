import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { indexInfo, openIndexToWrite } from '../../functions/search/index-file.ts'
import { type IndexReader, indexReader } from '../../functions/search/index-reader.ts'
import { applyChanges, type IndexSource, indexAll } from '../../functions/search/index-writer.ts'
import { Fault } from '../../shared/errors.ts'
import type { Indexing, IndexState, SearchIndex } from '../../shared/graph/search-index.ts'

/** The index of the local place: `index.db` in the data folder, written by who asks. */
interface LocalIndex {
  readonly index: SearchIndex
  /** Takes in what was put. Nothing of it expires. */
  readonly indexing: Indexing
  close(): void
}

interface Opened {
  readonly db: DatabaseSync
  readonly reader: IndexReader
  /** One writer: each waits for the one before. */
  last: Promise<unknown>
}

/**
 * The SearchIndex port over a file of one's own: the change log is applied before each answer, so an answer has
 * everything that was put before the question. Another tenant's index is a file beside it. A file that is of another
 * version is made anew. Folder ':memory:' keeps them in memory.
 */
export function openLocalIndex(folder: string, source: Omit<IndexSource, 'tenant'>): LocalIndex {
  const indexes = new Map<string, Opened>()
  const openedOf = (tenant: string): Opened => {
    const known = indexes.get(tenant)
    if (known !== undefined) return known
    const { db, isNew } = openFile(folder === ':memory:' ? folder : join(folder, fileName(tenant)))
    // A new file beside a graph: it was removed, or is of another version.
    const filled = isNew ? indexAll(db, { ...source, tenant }) : Promise.resolve()
    const opened = { db, reader: indexReader(db), last: filled }
    indexes.set(tenant, opened)
    // What is not filled is not used: the next question tries again.
    filled.catch(() => {
      indexes.delete(tenant)
      db.close()
    })
    return opened
  }
  /** Asks the index once it has what was put, and says as of when that is. */
  const ask = async <T>(tenant: string, question: (reader: IndexReader) => T): Promise<T & IndexState> => {
    const opened = openedOf(tenant)
    const mine = opened.last.then(async () => {
      const as_of = await takeIn(opened, { ...source, tenant })
      return { ...question(opened.reader), as_of }
    })
    opened.last = mine.catch(() => {})
    return await mine
  }
  return {
    index: {
      search: (tenant, query) => ask(tenant, (reader) => reader.search(query)),
      lookup: (tenant, by, text) => ask(tenant, (reader) => reader.lookup(by, text)),
      diffuse: (tenant, query) => ask(tenant, (reader) => reader.diffuse(query)),
      follow: (tenant, query) => ask(tenant, (reader) => reader.follow(query)),
    },
    indexing: {
      async publish(tenant) {
        await ask(tenant, () => ({}))
        return { outcome: 'unchanged', more: false }
      },
      keep: async () => undefined,
    },
    close() {
      for (const { db } of indexes.values()) db.close()
      indexes.clear()
    },
  }
}

async function takeIn({ db, reader }: Opened, source: IndexSource): Promise<string> {
  for (;;) {
    const { done, changed, next, as_of } = await applyChanges(db, source)
    if (changed) reader.changed()
    if (done.length > 0) await source.graph.dropChanges(source.tenant, done)
    if (next === undefined || done.length === 0) return as_of
  }
}

function fileName(tenant: string): string {
  return tenant === 'main' ? 'index.db' : `index-${tenant}.db`
}

/** FULL: an entry leaves the change log only when the disk has what it says. */
function openFile(file: string): { readonly db: DatabaseSync; readonly isNew: boolean } {
  let db = openIndexToWrite(file)
  if (db === undefined) {
    for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true })
    db = openIndexToWrite(file)
  }
  if (db === undefined) throw new Fault('Bug', 'index_unavailable', `Cannot make a search index at "${file}".`)
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  return { db, isNew: indexInfo(db, 'as_of') === undefined }
}
