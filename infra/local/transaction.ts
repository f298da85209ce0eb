import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { storeFault } from './store-fault.ts'

/**
 * Runs `work` in one transaction: all of its writes are committed when this returns, none when it throws. Inside
 * another transaction it is a part of that one. Everybody shares the connection, so `work` is synchronous: an await
 * inside would let strangers' writes in. Errors of SQLite come out as Faults.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work()
  const { begin, commit, rollback } = boundariesOf(db)
  try {
    begin.run()
    const answer = work()
    commit.run()
    return answer
  } catch (cause) {
    // SQLite has rolled back by itself after some errors (full disk, I/O).
    if (db.isTransaction) rollback.run()
    throw storeFault(cause, 'write to the run store')
  }
}

/**
 * Like `transaction`, but works handed over in the same turn of the microtask queue share ONE commit; the promise
 * resolves only after it. Each work still sees what the ones before it wrote. Measured: nothing lost when works come
 * one by one, 7 times cheaper when a thousand blocks report together. `work` may run twice: it must only touch the
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

interface Queued {
  /** Does the work; what it returns is called after the commit. */
  run(): () => void
  reject(cause: unknown): void
}

const waiting = new WeakMap<DatabaseSync, Queued[]>()

function openQueue(db: DatabaseSync): Queued[] {
  const queue: Queued[] = []
  waiting.set(db, queue)
  const commit = () => {
    waiting.delete(db)
    flush(db, queue)
  }
  // After the microtasks that can run now, so that blocks side by side share commits; a turn of the event loop would
  // cost more than the commit. But a thousand runs that go on together must not keep everybody else waiting.
  if (isLongTurn()) setImmediate(commit)
  else process.nextTick(commit)
  return queue
}

/** How long one turn of the event loop may go on with commits: requests, timers and streams wait behind it. */
const MAX_TURN_MS = 20

let turn: { readonly began: number } | undefined

function isLongTurn(): boolean {
  if (turn !== undefined) return performance.now() - turn.began > MAX_TURN_MS
  turn = { began: performance.now() }
  setImmediate(() => {
    turn = undefined
  })
  return false
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
