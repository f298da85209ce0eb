import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Fault, type FaultName } from '../../shared/errors.ts'
import type { Durability } from '../../shared/settings/settings.ts'
import { namesToDisk } from './to-disk.ts'

/** 'Sluc' in the file's header tells our file from any other SQLite file. */
const APPLICATION_ID = 0x536c7563
/** Raised when a table changes its shape, or what lies where; an older program refuses a newer file. */
export const SCHEMA_VERSION = 7

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
 * Runs `work` in one transaction: all of its writes are committed when this returns, none when it throws, and with them what
 * was decided before (`decideFirst`). Inside another transaction it is a part of that one. Everybody shares the connection, so
 * `work` is synchronous: an await inside would let strangers' writes in. Errors of SQLite come out as Faults.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work()
  const { begin, commit, rollback } = boundariesOf(db)
  const turn = turnOf(db)
  try {
    if (turn.undone) decideAgain(turn)
    begin.run()
    const answer = work()
    for (const { beforeCommit } of turn.watchers) beforeCommit?.()
    commit.run()
    for (const { afterCommit } of turn.watchers) afterCommit?.()
    allKept(turn)
    return answer
  } catch (cause) {
    // SQLite has rolled back by itself after some errors (full disk, I/O).
    if (db.isTransaction) rollback.run()
    undo(turn)
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

export function onTransactions(db: DatabaseSync, watcher: TransactionWatcher): void {
  turnOf(db).watchers.push(watcher)
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

/** What one database has to write, until it is committed. */
interface Turn {
  readonly watchers: TransactionWatcher[]
  /** Handed over, and not done yet: one after the other, in one transaction. */
  waiting: Queued[]
  /** Runs that works which wait are about. */
  readonly about: Set<string>
  /** Done in memory and answered; of the file from the next commit on. */
  decided: (() => unknown)[]
  /** Some of that may be told. */
  isTold: boolean
  /** A transaction failed and took what was decided with it, and it could not be decided again. */
  undone: boolean
  /** Who waits until everything decided is in the file. */
  kept: PromiseWithResolvers<void> | undefined
  due: NodeJS.Immediate | NodeJS.Timeout | undefined
  /** Nobody waits for that: it may come later. */
  isSoon: boolean
  /** Commits that failed one after the other. */
  failed: number
}

interface Queued {
  /** Does the work; what it returns is called after the commit. */
  run(): () => void
  reject(cause: unknown): void
}

const turns = new WeakMap<DatabaseSync, Turn>()

function turnOf(db: DatabaseSync): Turn {
  const there = turns.get(db)
  if (there !== undefined) return there
  const made: Turn = {
    ...{ watchers: [], waiting: [], about: new Set(), decided: [], isTold: false },
    ...{ undone: false, kept: undefined, due: undefined, isSoon: false, failed: 0 },
  }
  turns.set(db, made)
  return made
}

/**
 * Like `transaction`, but works handed over in the same turn of the event loop share ONE commit; the promise resolves
 * only after it. Each work still sees what the ones before it wrote. `about`: the run whose rows it reads or writes, by a
 * name; nothing is decided about that one before. `work` may run twice: it must only touch the database.
 */
export function commitTogether<T>(db: DatabaseSync, work: () => T, about?: string): Promise<T> {
  commitThisTurn(db)
  return handOver(db, work, about)
}

/** What nobody waits for goes with whatever commit comes next, after 10 ms by itself. */
export function commitSoon(db: DatabaseSync): void {
  const turn = turnOf(db)
  if (turn.due !== undefined) return
  turn.due = setTimeout(() => flush(db, turn), SOON_MS)
  turn.isSoon = true
}

const SOON_MS = 10

function handOver<T>(db: DatabaseSync, work: () => T, about?: string): Promise<T> {
  const { waiting, about: all } = turnOf(db)
  if (about !== undefined) all.add(about)
  return new Promise<T>((resolve, reject) => {
    waiting.push({
      run: () => {
        const answer = work()
        return () => resolve(answer)
      },
      reject,
    })
  })
}

/**
 * Does `work`, which touches memory alone and is written before the next commit, and answers at once: for decisions about a
 * run of which nothing leaves this process before a commit (`allCommitted`). That commit comes with whatever is not repeatable,
 * as soon as anybody is answered, or after 10 ms by itself. A process that dies before it has decided nothing; after a
 * transaction that failed `work` runs again.
 */
export function decideFirst<T>(db: DatabaseSync, work: () => T, about: string): Promise<T> {
  const turn = turnOf(db)
  if (!mustWait(turn, about)) turn.isTold = true
  return decideQuietly(db, work, about)
}

/** The same for what nobody is told: no answer waits for it. */
export function decideQuietly<T>(db: DatabaseSync, work: () => T, about: string): Promise<T> {
  const turn = turnOf(db)
  if (mustWait(turn, about)) return commitTogether(db, work, about)
  commitSoon(db)
  return decide(turn, work)
}

/** While the disk refuses nothing more is decided: each of it would be decided again with every try. */
function mustWait({ undone, failed, about: all }: Turn, about: string): boolean {
  return undone || failed > 0 || all.has(about)
}

function decide<T>(turn: Turn, work: () => T): Promise<T> {
  try {
    const answer = work()
    turn.decided.push(work)
    return Promise.resolve(answer)
  } catch (cause) {
    undo(turn)
    return Promise.reject(storeFault(cause, 'write to the run store'))
  }
}

/**
 * In the next turn of the event loop: whatever this one still hands over shares the commit, and requests, timers and
 * streams come in between. Measured on all shapes: a turn costs less than the commits it saves.
 */
export function commitThisTurn(db: DatabaseSync): void {
  const turn = turnOf(db)
  if (turn.due !== undefined && !turn.isSoon) return
  if (turn.isSoon) clearTimeout(turn.due as NodeJS.Timeout)
  turn.isSoon = false
  turn.due = setImmediate(() => flush(db, turn))
}

/** Whether a commit ends this turn of the event loop. */
export function isCommitDue(db: DatabaseSync): boolean {
  const { due, isSoon } = turnOf(db)
  return due !== undefined && !isSoon
}

/** Resolves once everything that was decided is in the file, rejects where it cannot be written; undefined: it is. */
export function allCommitted(db: DatabaseSync): Promise<void> | undefined {
  const turn = turnOf(db)
  if (!turn.isTold) return undefined
  commitThisTurn(db)
  turn.kept ??= Promise.withResolvers()
  return turn.kept.promise
}

/**
 * Returns once nothing waits for a commit any more: before the database is closed. What the disk refuses three times is
 * given up: a place that ends does not wait for it.
 */
export async function commitsDone(db: DatabaseSync): Promise<void> {
  const turn = turnOf(db)
  turn.failed = 0
  do {
    if (turn.isSoon) commitThisTurn(db)
    await new Promise(setImmediate)
  } while (turn.due !== undefined && turn.failed < 3)
}

/** After a commit that the disk refused, ms. */
const AGAIN_MS = 500

function flush(db: DatabaseSync, turn: Turn): void {
  const { waiting } = turn
  turn.waiting = []
  turn.about.clear()
  turn.due = undefined
  turn.isSoon = false
  if (!db.isOpen) {
    refuseClosed(turn, waiting)
    return
  }
  try {
    const answered = transaction(db, () => waiting.map((queued) => queued.run()))
    for (const answer of answered) answer()
  } catch {
    // One of them failed, and so nothing was written: first what was decided before, then each in a transaction of its own.
    const isDecided = turn.decided.length > 0
    if (isDecided) commitRest(db, turn)
    const written = waiting.map((queued) => alone(db, queued))
    if (!isDecided && !written.includes(true)) commitRest(db, turn)
  }
}

/** What goes with any commit, where there was none: those who wait for it hear of no error but its own. */
function commitRest(db: DatabaseSync, turn: Turn): void {
  try {
    transaction(db, () => undefined)
  } catch (cause) {
    refuseKept(turn, cause)
    if (!(cause instanceof Fault && cause.name === 'Unavailable') && giveUpUnwritable(db, turn)) return
    turn.failed += 1
    turn.due ??= setTimeout(() => flush(db, turn), AGAIN_MS)
    turn.isSoon = true
  }
}

/**
 * A decision that can never be written, since rows of its run are damaged, keeps nobody else's from the file: each is written
 * by itself, and forgotten where that fails. False: without any of them nothing is written either.
 */
function giveUpUnwritable(db: DatabaseSync, turn: Turn): boolean {
  const { decided } = turn
  turn.decided = []
  undo(turn)
  if (!isWritten(db, () => undefined)) {
    turn.decided = decided
    undo(turn)
    return false
  }
  for (const work of decided) isWritten(db, work)
  return true
}

function isWritten(db: DatabaseSync, work: () => unknown): boolean {
  try {
    transaction(db, work)
    return true
  } catch {
    return false
  }
}

/** Nothing is written any more. */
function refuseClosed(turn: Turn, waiting: readonly Queued[]): void {
  const message =
    'Cannot write to the run store: this process is shutting down, and its database is closed. Start the place again.'
  const fault = new Fault('Unavailable', 'store_unavailable', message)
  for (const queued of waiting) queued.reject(fault)
  refuseKept(turn, fault)
}

function refuseKept(turn: Turn, cause: unknown): void {
  turn.kept?.reject(cause)
  turn.kept = undefined
}

/** Whether it was written. */
function alone(db: DatabaseSync, queued: Queued): boolean {
  try {
    transaction(db, () => queued.run())()
    return true
  } catch (cause) {
    queued.reject(cause)
    return false
  }
}

function allKept(turn: Turn): void {
  if (turn.decided.length > 0) turn.decided = []
  turn.failed = 0
  turn.isTold = false
  turn.kept?.resolve()
  turn.kept = undefined
}

/** What is in memory and not in the file is forgotten, and decided again from the file. */
function undo(turn: Turn): void {
  for (const { afterRollback } of turn.watchers) afterRollback?.()
  turn.undone = turn.decided.length > 0
  try {
    decideAgain(turn)
  } catch {
    // The file cannot be read now either: before the next transaction.
  }
}

function decideAgain(turn: Turn): void {
  for (const work of turn.decided) work()
  turn.undone = false
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
