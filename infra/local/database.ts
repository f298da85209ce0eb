import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Fault, type FaultName } from '../../shared/errors.ts'
import type { Durability } from '../../shared/settings/settings.ts'
import { namesToDisk } from './to-disk.ts'

/** 'Sluc' in the file's header tells our file from any other SQLite file. */
const APPLICATION_ID = 0x536c7563
/** Raised when a table changes its shape, or what lies where; an older program refuses a newer file. */
export const SCHEMA_VERSION = 6

/**
 * WAL with synchronous NORMAL: a commit survives the end of this process however it comes; a power cut may lose the
 * last commits but never tears one. FULL: a commit waits for the disk. A checkpoint each 1,000 pages (4 MB): 2,000, 4,000 and
 * 16,000 saved nothing that could be measured (docs/benchmarks.md), and a longer one holds everybody up for longer. What one
 * large transaction leaves beyond that goes with the next write behind a checkpoint, the rest when nothing is written
 * (`truncateWhenIdle`). EXCLUSIVE: the folder's lock admits one process anyway, and the file locks around each
 * statement cost a quarter of an append; so the file is read with other programs while no place is open on it.
 */
const pragmas = (durability: Durability) => `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'};
  PRAGMA wal_autocheckpoint = 1000;
  PRAGMA journal_size_limit = 4194304;
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY;`

/**
 * Opens `sluice.db` in the data folder, making both when they are not there; ':memory:' keeps everything in memory.
 * Fault InvalidInput not_our_database or database_newer, Bug database_corrupt, Unavailable store_busy or
 * store_unavailable; the file is left as it was.
 */
export function openDatabase(folder: string, durability: Durability = 'normal'): DatabaseSync {
  const file = folder === ':memory:' ? folder : join(folder, 'sluice.db')
  let db: DatabaseSync | undefined
  try {
    if (folder !== ':memory:') makeClosed(folder, file, durability)
    db = new DatabaseSync(file, { timeout: 5_000 })
    requireOurs(db, file)
    db.exec(pragmas(durability))
    return db
  } catch (cause) {
    db?.close()
    throw storeFault(cause, `open "${file}"`)
  }
}

/** SQLite gives the files beside it the mode of this one. */
function makeClosed(folder: string, file: string, durability: Durability): void {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
  if (durability === 'full') namesToDisk(file, made)
}

function requireOurs(db: DatabaseSync, file: string): void {
  const found = readHeader(db)
  if (found.application_id === 0 && found.user_version === 0 && found.objects === 0) {
    // Small pages: a commit writes whole ones. The size is fixed by the first write.
    db.exec(
      `PRAGMA page_size = 4096; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`,
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

/**
 * Runs `work` in one transaction: all of its writes are committed when this returns, none when it throws. Inside
 * another transaction it is a part of that one. Everybody shares the connection, so `work` is synchronous: an await
 * inside would let strangers' writes in. Errors of SQLite come out as Faults.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work()
  const { begin, commit, rollback } = boundariesOf(db)
  const watchers = watching.get(db) ?? []
  try {
    begin.run()
    const answer = work()
    for (const { beforeCommit } of watchers) beforeCommit?.()
    commit.run()
    for (const { afterCommit } of watchers) afterCommit?.()
    return answer
  } catch (cause) {
    // SQLite has rolled back by itself after some errors (full disk, I/O).
    if (db.isTransaction) rollback.run()
    for (const { afterRollback } of watchers) afterRollback?.()
    throw storeFault(cause, 'write to the run store')
  }
}

/** Whoever keeps in memory what they read and wrote. */
interface TransactionWatcher {
  /** Writes what the file does not have yet. */
  beforeCommit?(): void
  afterCommit?(): void
  /** What was read or written since the transaction began is not so. */
  afterRollback?(): void
}

const watching = new WeakMap<DatabaseSync, TransactionWatcher[]>()

export function onTransactions(db: DatabaseSync, watcher: TransactionWatcher): void {
  watching.set(db, [...(watching.get(db) ?? []), watcher])
}

/**
 * Answers a look at whether anybody has written since the last one: of a database that rests the WAL goes into its file, and
 * is empty then. Of one that is written to nothing is done.
 */
export function truncateWhenIdle(db: DatabaseSync): () => void {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  let commits = 0
  let seen = 0
  let truncated = -1
  onTransactions(db, {
    afterCommit: () => {
      commits += 1
    },
  })
  return () => {
    const rests = commits === seen
    seen = commits
    if (!rests || commits === truncated || db.isTransaction) return
    checkpoint.all()
    truncated = commits
  }
}

/**
 * Like `transaction`, but works handed over in the same turn of the event loop share ONE commit; the promise resolves
 * only after it. Each work still sees what the ones before it wrote. Measured: nothing lost when works come one by one,
 * 7 times cheaper when a thousand blocks report together. `work` may run twice: it must only touch the
 * database.
 */
export function commitTogether<T>(db: DatabaseSync, work: () => T): Promise<T> {
  const queue = waiting.get(db) ?? openQueue(db)
  return new Promise<T>((resolve, reject) => {
    queue.push({
      run: () => {
        const answer = work()
        return () => resolve(answer)
      },
      reject,
    })
  })
}

/** Whether this turn or the next one ends with a commit anyway. */
export function commitComes(db: DatabaseSync): boolean {
  return waiting.has(db)
}

/** Returns once nothing waits for a commit any more: before the database is closed. */
export async function commitsDone(db: DatabaseSync): Promise<void> {
  do await new Promise(setImmediate)
  while (waiting.has(db))
}

interface Queued {
  /** Does the work; what it returns is called after the commit. */
  run(): () => void
  reject(cause: unknown): void
}

const waiting = new WeakMap<DatabaseSync, Queued[]>()

function openQueue(db: DatabaseSync): Queued[] {
  const queue: Queued[] = []
  waiting.set(db, queue)
  // In the next turn of the event loop: whatever this one still hands over shares the commit, and requests, timers and
  // streams come in between. Measured on all shapes: a turn costs less than the commits it saves.
  setImmediate(() => {
    waiting.delete(db)
    flush(db, queue)
  })
  return queue
}

function flush(db: DatabaseSync, queue: readonly Queued[]): void {
  const answered = together(db, queue)
  if (answered !== undefined) for (const answer of answered) answer()
  else for (const queued of queue) alone(db, queued)
}

/** Undefined when one of them failed, and so nothing was written: then each gets a transaction of its own. */
function together(db: DatabaseSync, queue: readonly Queued[]): readonly (() => void)[] | undefined {
  try {
    return transaction(db, () => queue.map((queued) => queued.run()))
  } catch {
    return undefined
  }
}

function alone(db: DatabaseSync, queued: Queued): void {
  try {
    transaction(db, () => queued.run())()
  } catch (cause) {
    queued.reject(cause)
  }
}

interface Boundaries {
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly rollback: StatementSync
}

const boundaries = new WeakMap<DatabaseSync, Boundaries>()

function boundariesOf(db: DatabaseSync): Boundaries {
  const known = boundaries.get(db)
  if (known !== undefined) return known
  const made = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT'), rollback: db.prepare('ROLLBACK') }
  boundaries.set(db, made)
  return made
}

/**
 * What a failed SQLite call means to a caller: a Fault as it is, an error of SQLite by its primary result code
 * (sqlite.org/rescode.html), anything else Bug. `doing` continues "Cannot ..".
 */
export function storeFault(cause: unknown, doing: string): Fault {
  if (cause instanceof Fault) return cause
  const [name, code, advice] = MEANINGS[resultCode(cause)] ?? ['Bug', 'store_error', 'Please report it.']
  const seen = cause instanceof Error ? cause.message : String(cause)
  return new Fault(name, code, `Cannot ${doing}: ${seen}. ${advice}`, { cause })
}

type Meaning = readonly [name: FaultName, code: string, advice: string]

const BUSY: Meaning = ['Unavailable', 'store_busy', 'Another program holds the file: close it and try again.']
const DISK: Meaning = ['Unavailable', 'store_unavailable', 'Check the disk, its free space and the rights on the file.']
const DAMAGED: Meaning = ['Bug', 'database_corrupt', 'The file is damaged: restore it from a copy, or move it away.']
const FOREIGN: Meaning = ['InvalidInput', 'not_our_database', 'It is no SQLite file: move it away.']

const MEANINGS: Readonly<Record<number, Meaning>> = {
  5: BUSY,
  6: BUSY,
  8: DISK,
  10: DISK,
  11: DAMAGED,
  13: DISK,
  14: DISK,
  26: FOREIGN,
}

/** Low byte of SQLite's code; a failed mkdir of the folder counts as "cannot open"; -1 = not about the store. */
function resultCode(cause: unknown): number {
  if (typeof cause !== 'object' || cause === null) return -1
  if ('errcode' in cause && typeof cause.errcode === 'number') return cause.errcode & 0xff
  return 'syscall' in cause ? 14 : -1
}
