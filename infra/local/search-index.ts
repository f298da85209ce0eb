import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { indexInfo, openIndexToWrite } from '../../functions/search/index-file.ts'
import { type IndexReader, indexReader } from '../../functions/search/index-reader.ts'
import { applyChanges, findMentions, type IndexSource, indexAll } from '../../functions/search/index-writer.ts'
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
  /** Finds what was put, when nothing more is put. */
  due?: NodeJS.Timeout
  /** Makes ready what walks need, when nothing was put for longer. */
  walksDue?: NodeJS.Timeout
  /** What that took last, milliseconds. */
  walks_took: number
}

/** Texts put in numbers are searched for names once nothing was put for so long, or somebody asks. */
const REST_MS = 2_000
/** Or for so many times as long as it took to take in what was put last: where the machine is slow, so is who puts. */
const REST_TIMES = 5

/** What walks need is made at most for one part in so many of the time, however often something is put. */
const WALKS_TIMES = 20

/**
 * The SearchIndex port over a file of one's own: the change log is applied before each answer, so an answer has
 * everything that was put before the question. Another tenant's index is a file beside it. A file that is of another
 * version, or with the other setting of links, is made anew. Folder ':memory:' keeps them in memory.
 */
export function openLocalIndex(folder: string, given: Omit<IndexSource, 'tenant'>): LocalIndex {
  const source = { pause: nextTurn, ...given }
  const indexes = new Map<string, Opened>()
  const openedOf = (tenant: string): Opened => {
    const known = indexes.get(tenant)
    if (known !== undefined) return known
    const { db, isNew } = openFile(folder === ':memory:' ? folder : join(folder, fileName(tenant)), source.links)
    // A new file beside a graph: it was removed, or is of another version.
    const filled = isNew ? indexAll(db, { ...source, tenant }) : Promise.resolve()
    const opened = { db, reader: indexReader(db), last: filled, walks_took: 0 }
    indexes.set(tenant, opened)
    // What is not filled is not used: the next question tries again.
    filled.catch(() => {
      indexes.delete(tenant)
      db.close()
    })
    return opened
  }
  const inTurn = async <T>(opened: Opened, work: () => Promise<T>): Promise<T> => {
    const mine = opened.last.then(work)
    opened.last = mine.catch(() => {})
    return await mine
  }
  /** Asks the index once it has what was put, and says as of when that is. */
  const ask = async <T>(
    tenant: string,
    question: (reader: IndexReader) => T,
    { walks = false }: { readonly walks?: boolean } = {},
  ): Promise<T & IndexState> => {
    const opened = openedOf(tenant)
    return await inTurn(opened, async () => {
      const as_of = await takeIn(opened, { ...source, tenant })
      await linkTexts(opened)
      if (walks) await opened.reader.prepare(nextTurn)
      return { ...question(opened.reader), as_of }
    })
  }
  /** What fails here is told to the next who asks. */
  const linkSoon = (opened: Opened, took_ms: number): void => {
    const rest = Math.max(REST_MS, REST_TIMES * took_ms)
    clearTimeout(opened.due)
    clearTimeout(opened.walksDue)
    opened.due = setTimeout(() => void inTurn(opened, () => linkTexts(opened)).catch(() => {}), rest).unref()
    const longer = Math.max(rest, WALKS_TIMES * opened.walks_took)
    opened.walksDue = setTimeout(() => void inTurn(opened, () => makeReady(opened)).catch(() => {}), longer).unref()
  }
  const makeReady = async (opened: Opened): Promise<void> => {
    if (!opened.db.isOpen) return
    const begun = source.clock.now()
    await linkTexts(opened)
    await opened.reader.prepare(nextTurn)
    opened.walks_took = source.clock.now() - begun
  }
  return {
    index: {
      search: (tenant, query) => ask(tenant, (reader) => reader.search(query), { walks: query.named !== undefined }),
      lookup: (tenant, by, text) => ask(tenant, (reader) => reader.lookup(by, text)),
      spelling: (tenant, text) => ask(tenant, (reader) => reader.spelling(text)),
      diffuse: (tenant, query) => ask(tenant, (reader) => reader.diffuse(query), { walks: true }),
      follow: (tenant, query) => ask(tenant, (reader) => reader.follow(query), { walks: true }),
      links: (tenant, query) => ask(tenant, (reader) => reader.links(query)),
    },
    indexing: {
      async publish(tenant) {
        const opened = openedOf(tenant)
        const took = await inTurn(opened, async () => {
          const begun = source.clock.now()
          await takeIn(opened, { ...source, tenant })
          return source.clock.now() - begun
        })
        linkSoon(opened, took)
        return { outcome: 'unchanged', more: false }
      },
      keep: async () => undefined,
      // The hourly retention leaves out what entities name: nobody walks.
      walk: async () => undefined,
      noteWalk: async () => undefined,
    },
    close() {
      for (const { db, due, walksDue } of indexes.values()) {
        clearTimeout(due)
        clearTimeout(walksDue)
        db.close()
      }
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

async function linkTexts({ db, reader }: Opened): Promise<void> {
  if (db.isOpen && (await findMentions(db, nextTurn))) reader.changed()
}

function fileName(tenant: string): string {
  return tenant === 'main' ? 'index.db' : `index-${tenant}.db`
}

/** FULL: an entry leaves the change log only when the disk has what it says. */
function openFile(file: string, links: boolean): { readonly db: DatabaseSync; readonly isNew: boolean } {
  let db = openIndexToWrite(file, links)
  if (db === undefined) {
    for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true })
    db = openIndexToWrite(file, links)
  }
  if (db === undefined) throw new Fault('Bug', 'index_unavailable', `Cannot make a search index at "${file}".`)
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  return { db, isNew: indexInfo(db, 'as_of') === undefined }
}
