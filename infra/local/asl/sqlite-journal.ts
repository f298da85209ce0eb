import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Json } from '../../../shared/text/json.ts'
import { commitSoon, commitThisTurn, commitTogether, onTransactions, transaction } from '../database.ts'
import { inserter } from '../insert-rows.ts'
import type { ExecutionEnd, FramePosition, FrameSlot, Journal, JournalledExecution } from './journal.ts'

const TABLES = `
CREATE TABLE IF NOT EXISTS machine_definitions (hash TEXT PRIMARY KEY, definition TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS machine_uses (hash TEXT PRIMARY KEY, used_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS machine_executions (
  id INTEGER PRIMARY KEY, machine TEXT NOT NULL, name TEXT NOT NULL, input TEXT NOT NULL, started_at INTEGER NOT NULL,
  events INTEGER NOT NULL, end TEXT, UNIQUE (machine, name));
CREATE INDEX IF NOT EXISTS machine_executions_unfinished ON machine_executions (id) WHERE end IS NULL;
CREATE TABLE IF NOT EXISTS machine_steps (
  execution INTEGER NOT NULL, path TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (execution, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS machine_tokens (
  token TEXT PRIMARY KEY, execution INTEGER NOT NULL, path TEXT NOT NULL, answer TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS machine_tokens_of ON machine_tokens (execution, path);
`

const STATEMENTS = {
  define: 'INSERT OR IGNORE INTO machine_definitions (hash, definition) VALUES (?, ?)',
  definition: 'SELECT definition FROM machine_definitions WHERE hash = ?',
  use: 'INSERT INTO machine_uses (hash, used_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET used_at = excluded.used_at',
  uses: 'SELECT hash, coalesce(used_at, 0) AS used_at FROM machine_definitions LEFT JOIN machine_uses USING (hash)',
  undefine: 'DELETE FROM machine_definitions WHERE hash = ?',
  unuse: 'DELETE FROM machine_uses WHERE hash = ?',
  last: 'SELECT coalesce(max(id), 0) AS id FROM machine_executions',
  create:
    'INSERT INTO machine_executions (id, machine, name, input, started_at, events, end) VALUES (?, ?, ?, ?, ?, ?, ?)',
  find: 'SELECT id, input, end FROM machine_executions WHERE machine = ? AND name = ?',
  unfinished:
    'SELECT id, machine, name, input, started_at, events FROM machine_executions WHERE end IS NULL ORDER BY id',
  places: 'SELECT path, place FROM machine_steps WHERE execution = ?',
  tokens: 'SELECT token, answer FROM machine_tokens WHERE execution = ?',
  token: 'SELECT execution, answer FROM machine_tokens WHERE token = ?',
  // Paths below p lie between `p/` and `p0`: '0' follows '/' in ASCII.
  clearSteps: 'DELETE FROM machine_steps WHERE execution = ? AND path > ? AND path < ?',
  clearTokens: 'DELETE FROM machine_tokens WHERE execution = ? AND path > ? AND path < ?',
  answerToken: 'UPDATE machine_tokens SET answer = ? WHERE token = ? AND answer IS NULL',
  closeToken: 'DELETE FROM machine_tokens WHERE token = ?',
  events: 'UPDATE machine_executions SET events = ? WHERE id = ?',
  end: 'UPDATE machine_executions SET end = ? WHERE id = ? AND end IS NULL',
  endSteps: 'DELETE FROM machine_steps WHERE execution = ?',
  endTokens: 'DELETE FROM machine_tokens WHERE execution = ?',
} as const

type Sql = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>
type Row = Readonly<Record<string, SQLOutputValue>>

/**
 * The journal in the place's one database, beside the run store. BEGIN to COMMIT runs without a pause, so the shared
 * connection is never left inside a transaction. One process only: it holds the folder's lock.
 */
export function createSqliteJournal(db: DatabaseSync): Journal {
  db.exec(TABLES)
  const sql = prepare(db)
  let lastId = Number((sql.last.get() as Row).id)
  const brief = briefExecutions(db)
  /** Executions that may have rows of branches or of tokens in the file: of others there is nothing to remove. */
  const spread = new Set<number>()
  const lastBefore = lastId
  const maySpread = (id: number): boolean => id <= lastBefore || spread.has(id)
  /** Those that end with the next commit. */
  const ending = new Set<number>()
  onTransactions(db, {
    afterCommit() {
      for (const id of ending) spread.delete(id)
      ending.clear()
    },
  })
  const isOver = (id: number): boolean => brief.over(id) || ending.has(id)
  const steps = inserter(
    db,
    'INTO machine_steps (execution, path, place)',
    3,
    'ON CONFLICT DO UPDATE SET place = excluded.place',
  )
  const tokens = createTokenRows(db, isOver, (id) => spread.add(id))
  const addRows = (rows: SQLInputValue[], id: number, slots: readonly FrameSlot[]): void => {
    for (const { path, place } of slots) {
      if (place === undefined) continue
      if (path !== '') spread.add(id)
      rows.push(id, path, JSON.stringify(place))
    }
  }
  const buffer = createGroupCommit(db, {
    moved(all) {
      const rows: SQLInputValue[] = []
      for (const { execution, slots } of all) {
        const { id, events } = execution
        if (!isOver(id)) addRows(rows, id, slots)
        // A row that is made says it already.
        if (!brief.has(id)) sql.events.run(events, id)
      }
      steps(rows)
      tokens.write()
    },
    written: tokens.written,
  })
  const { later } = buffer
  /** Of an execution that may be over before the commit. */
  const laterOf = (id: number, write: Write, soon?: boolean) => later(() => void (brief.over(id) || write()), soon)
  const read = <T>(select: () => T): T => {
    buffer.commit()
    return select()
  }
  return {
    define: (hash, definition) => later(() => sql.define.run(hash, definition)),
    definition: (hash) => read(() => text(sql.definition.get(hash), 'definition')),
    use: (hash, at) => later(() => sql.use.run(hash, at)),
    uses: () => read(() => sql.uses.all().map(useOf)),
    undefine: (hash) =>
      later(() => {
        sql.undefine.run(hash)
        sql.unuse.run(hash)
      }),
    create(draft) {
      lastId += 1
      const execution = { ...draft, id: lastId }
      const input = JSON.stringify(draft.input)
      brief.begun(execution)
      later(() => {
        const end = brief.endOf(execution.id) ?? null
        sql.create.run(execution.id, draft.machine, draft.name, input, draft.started_at, execution.events, end)
      }, true)
      return execution
    },
    // No commit first: executions with writes under way are known to the caller.
    find: (machine, name) => found(sql.find.get(machine, name)),
    unfinished: () => read(() => sql.unfinished.all().map(executionOf)),
    places: (id) => read(() => new Map(sql.places.all(id).map(positionOf))),
    tokens: (id) => read(() => new Map(sql.tokens.all(id).map((row) => [String(row.token), answerOf(row)]))),
    token: (token) => read(() => tokenOf(sql.token.get(token))),
    put: buffer.put,
    clear(id, path, soon) {
      buffer.drop(id, `${path}/`)
      tokens.drop(id, `${path}/`)
      const remove = () => {
        if (!maySpread(id)) return
        sql.clearSteps.run(id, `${path}/`, `${path}0`)
        sql.clearTokens.run(id, `${path}/`, `${path}0`)
      }
      laterOf(id, remove, soon)
    },
    openToken(token, { execution: { id }, path }, soon) {
      tokens.open(token, id, path)
      buffer.touch(soon)
    },
    answerToken(token, answer, soon) {
      const text = JSON.stringify(answer)
      if (tokens.answer(token, text)) buffer.touch(soon)
      else later(() => sql.answerToken.run(text, token), soon)
    },
    closeToken(token, soon) {
      if (tokens.close(token)) buffer.touch(soon)
      else later(() => sql.closeToken.run(token), soon)
    },
    end(id, end, soon) {
      const text = JSON.stringify(end)
      if (!brief.ended(id, text)) {
        ending.add(id)
        later(() => writeEnd(sql, id, text, maySpread(id)), soon)
      } else if (!soon) commitThisTurn(db)
    },
    durable: buffer.durable,
    committed: buffer.committed,
  }
}

interface TokenRow {
  readonly execution: number
  readonly path: string
  answer: string | null
}

/** Tokens that were opened since the last commit: one that was closed again before it has no row. */
function createTokenRows(db: DatabaseSync, isOver: (id: number) => boolean, onRow: (id: number) => void) {
  const insert = inserter(db, 'OR REPLACE INTO machine_tokens (token, execution, path, answer)', 4)
  const opened = new Map<string, TokenRow>()
  return {
    open: (token: string, execution: number, path: string) => void opened.set(token, { execution, path, answer: null }),
    /** False: it was opened before. */
    answer(token: string, answer: string): boolean {
      const one = opened.get(token)
      if (one === undefined) return false
      one.answer ??= answer
      return true
    },
    /** False: it may have a row. */
    close: (token: string): boolean => opened.delete(token),
    /** Branches below that path are left. */
    drop(id: number, below: string): void {
      for (const [token, { execution, path }] of opened) {
        if (execution === id && path.startsWith(below)) opened.delete(token)
      }
    },
    write(): void {
      const rows: SQLInputValue[] = []
      for (const [token, { execution, path, answer }] of opened) {
        if (isOver(execution)) continue
        onRow(execution)
        rows.push(token, execution, path, answer)
      }
      insert(rows)
    },
    written: (): void => opened.clear(),
  }
}

/** Executions that began since the last commit. Of one that has ended too nothing is written but its row. */
function briefExecutions(db: DatabaseSync) {
  const begun = new Map<number, { end?: string }>()
  onTransactions(db, { afterCommit: () => begun.clear() })
  return {
    begun: ({ id }: JournalledExecution) => void begun.set(id, {}),
    /** False: it began before. */
    ended(id: number, end: string): boolean {
      const one = begun.get(id)
      if (one !== undefined) one.end = end
      return one !== undefined
    },
    has: (id: number): boolean => begun.has(id),
    over: (id: number): boolean => begun.get(id)?.end !== undefined,
    endOf: (id: number): string | undefined => begun.get(id)?.end,
  }
}

function prepare(db: DatabaseSync): Sql {
  const entries = Object.entries(STATEMENTS).map(([name, source]) => [name, db.prepare(source)])
  return Object.fromEntries(entries)
}

function writeEnd(sql: Sql, id: number, end: string, isSpread: boolean): void {
  sql.end.run(end, id)
  sql.endSteps.run(id)
  if (isSpread) sql.endTokens.run(id)
}

function text(row: Row | undefined, column: string): string | undefined {
  const value = row?.[column]
  return typeof value === 'string' ? value : undefined
}

function json<T>(row: Row, column: string): T | undefined {
  const value = text(row, column)
  // Our own text, written by this file from a value of the type.
  return value === undefined ? undefined : (JSON.parse(value) as T)
}

function executionOf(row: Row): JournalledExecution {
  return {
    id: Number(row.id),
    machine: String(row.machine),
    name: String(row.name),
    started_at: Number(row.started_at),
    events: Number(row.events),
    ...inputOf(row),
  }
}

function inputOf(row: Row): Pick<JournalledExecution, 'input' | 'damaged'> {
  try {
    return { input: json<Json>(row, 'input') ?? null }
  } catch (error) {
    return { input: null, damaged: `its input cannot be read: ${error instanceof Error ? error.message : error}` }
  }
}

/** That it ended is known, and no more. */
const END_UNREADABLE = { status: 'FAILED', error: 'States.Runtime', ended_at: 0 } as const

function endOf(row: Row): ExecutionEnd | undefined {
  try {
    return json<ExecutionEnd>(row, 'end')
  } catch (error) {
    return { ...END_UNREADABLE, cause: `its end cannot be read: ${error instanceof Error ? error.message : error}` }
  }
}

function useOf(row: Row): { readonly hash: string; readonly used_at: number } {
  return { hash: String(row.hash), used_at: Number(row.used_at) }
}

function found(row: Row | undefined): ReturnType<Journal['find']> {
  if (row === undefined) return undefined
  const end = endOf(row)
  return { id: Number(row.id), input: inputOf(row).input, ...(end && { end }) }
}

function positionOf(row: Row): readonly [string, FramePosition] {
  return [String(row.path), JSON.parse(String(row.place))]
}

function answerOf(row: Row): TokenAnswer | undefined {
  return json<TokenAnswer>(row, 'answer')
}

function tokenOf(row: Row | undefined): ReturnType<Journal['token']> {
  if (row === undefined) return undefined
  const answer = answerOf(row)
  return { execution: Number(row.execution), ...(answer && { answer }) }
}

type Write = () => void

interface Writers {
  /** Where executions stand since the last commit: behind all other writes. */
  moved(all: Iterable<Moved>): void
  /** That commit is in the file. */
  written(): void
}

/** Since the last commit. */
interface Moved {
  readonly execution: JournalledExecution
  readonly slots: FrameSlot[]
}

interface GroupCommit {
  /** `soon`: nobody waits for it. */
  later(write: Write, soon?: boolean): void
  /** Places of one slot that fall into one commit are written once, the newest. */
  put(slot: FrameSlot, place: FramePosition, soon?: boolean): void
  /** Something is to be written that `moved` writes too. */
  touch(soon?: boolean): void
  /** Places of branches below that path which are not written yet never are. */
  drop(execution: number, below: string): void
  /** Commits now. Throws a Fault when the database refuses; nothing is lost then. */
  commit(): void
  readonly durable: Journal['durable']
  readonly committed: Journal['committed']
}

/** Writes of one turn of the event loop in one commit, another's if there is one. Refused ones stay and are tried with the next. */
function createGroupCommit(db: DatabaseSync, writers: Writers): GroupCommit {
  let writes: Write[] = []
  let moved = new Map<number, Moved>()
  let isUnwritten = false
  let batch = 1
  let next: PromiseWithResolvers<void> | undefined

  onTransactions(db, {
    beforeCommit() {
      if (!isUnwritten) return
      for (const write of writes) write()
      writers.moved(moved.values())
    },
    afterCommit() {
      if (!isUnwritten) return
      isUnwritten = false
      writes = []
      moved = new Map()
      batch += 1
      writers.written()
      next?.resolve()
      next = undefined
    },
  })
  const commit = (): void => {
    if (isUnwritten) transaction(db, () => undefined)
  }
  const touch = (soon = false): void => {
    isUnwritten = true
    if (soon) commitSoon(db)
    else commitThisTurn(db)
  }
  const later = (write: Write, soon?: boolean): void => {
    writes.push(write)
    touch(soon)
  }
  const put = (slot: FrameSlot, place: FramePosition, soon?: boolean): void => {
    slot.place = place
    // Also of one that is to be written already: it may wait less now.
    touch(soon)
    if (slot.batch === batch) return
    slot.batch = batch
    const { id } = slot.execution
    const there = moved.get(id)
    if (there === undefined) moved.set(id, { execution: slot.execution, slots: [slot] })
    else there.slots.push(slot)
  }
  const drop = (id: number, below: string): void => {
    for (const slot of moved.get(id)?.slots ?? []) if (slot.path.startsWith(below)) delete slot.place
  }
  const durable = async (): Promise<void> => {
    if (isUnwritten) await commitTogether(db, () => undefined)
  }
  const committed = async (): Promise<void> => {
    if (!isUnwritten) return
    next ??= Promise.withResolvers()
    await next.promise
  }
  return { later, put, touch, drop, commit, durable, committed }
}

/** Forgets executions that began before that time (ms), have ended, and whose run is gone. */
export function removeEndedExecutions(db: DatabaseSync, before: number): void {
  transaction(db, () => {
    db.prepare(
      `DELETE FROM machine_executions WHERE end IS NOT NULL AND started_at < ? AND json_valid(input) AND NOT EXISTS (
        SELECT 1 FROM runs WHERE tenant = CASE WHEN json_valid(input) THEN input ->> '$.tenant' END
          AND run_id = CASE WHEN json_valid(input) THEN input ->> '$.run_id' END)`,
    ).run(before)
  })
}
