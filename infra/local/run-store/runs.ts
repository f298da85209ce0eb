import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { Head, OutboxEntry } from '../../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../../shared/runs/lane.ts'
import { birthFacts } from '../../../shared/runs/run-facts.ts'
import type { DamagedRun, Meta, NewRun, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether, decideFirst, decideQuietly } from '../database.ts'
import { headWriter } from './append.ts'
import { erasedBefore } from './erasure.ts'
import { eventBodies } from './event-log.ts'
import { headOfLive, type LiveRun, liveRunsOf, settleEntry } from './live-runs.ts'
import { nameOf, query, requireRun, runNumberLookup } from './query.ts'
import { headReader } from './stored-head.ts'

/** run:started is the first step of the run's own lane. */
const STARTED = ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed })

/** Creates a run once: HEAD, META, CTX and run:started together. */
export function runsOn(db: DatabaseSync): Pick<RunStore, 'create' | 'meta' | 'parentTokens'> {
  const metaOf = metaReader(db)
  const insert = insertRun(db)
  const refuseErased = erasedBefore(db)
  const numberOf = runNumberLookup(db)
  const addToken = db.prepare('INSERT OR IGNORE INTO parent_tokens (run, token) VALUES (?, ?)')
  const tokens = query<{ readonly token: string }>(db, 'SELECT token FROM parent_tokens WHERE run = ? ORDER BY token')
  return {
    create: async (run) => {
      const bodies = eventBodies([run.event])
      const about = nameOf(run.meta)
      const work = () => {
        const there = metaOf(run.meta)
        if (there === undefined) {
          refuseErased(run.meta)
          insert(run, bodies)
        }
        const { parent_token } = run
        if (parent_token !== undefined) addToken.run(requireRun(numberOf(run.meta), run.meta), parent_token)
        return { created: there === undefined, meta: there ?? run.meta }
      }
      return isNobodyTold(run) ? decideFirst(db, work, about) : commitTogether(db, work, about)
    },
    meta: async (run) => metaOf(run),
    parentTokens: async (key) => {
      const run = numberOf(key)
      return run === undefined ? [] : tokens.all(run).map(({ token }) => token)
    },
  }
}

/** Only its own start follows from it: no webhook is told of it, and nobody waits for it. */
function isNobodyTold({ outbox, parent_token }: NewRun): boolean {
  return parent_token === undefined && outbox.every(({ kind }) => kind === 'start_run')
}

/** META of a run, as it was written. */
function metaReader(db: DatabaseSync): (run: RunKey) => Meta | undefined {
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  const find = query<{ readonly body: string }>(db, 'SELECT body FROM metas WHERE run = ?')
  return (key) => {
    const run = numberOf(key)
    if (run === undefined) return undefined
    const one = live.peek(run)
    if (one?.meta !== undefined) return one.meta
    const found = find.one(run)
    const meta = found === undefined ? undefined : JSON.parse(found.body)
    if (one !== undefined) one.meta = meta
    return meta
  }
}

function insertRun(db: DatabaseSync): (run: NewRun, bodies: readonly string[]) => void {
  const live = liveRunsOf(db)
  const write = headWriter(db)
  return (run, bodies) => {
    const { tenant, run_id, dag_name, created_at } = run.meta
    const { deadline_at, check_at, caps = {}, stored_bytes = 0 } = run
    const head = { queued: run.queued === true, deadline_at, check_at, stored_bytes }
    const texts = { meta: JSON.stringify(run.meta), context: JSON.stringify(run.context) }
    const birth = { dag_name, created_at, ...texts, facts: birthFacts(run) }
    const one = live.make({ tenant, run_id }, { ...head, budget: { ...caps, ...NOTHING_SPENT } }, birth)
    write(one, { lane: 'run', ordinal: STARTED, at: created_at, events: [run.event], outbox: run.outbox }, bodies)
  }
}

const NOTHING_SPENT = {
  ...{ committed_tokens: 0, committed_usd_micros: 0, spent_tokens: 0, spent_usd_micros: 0 },
  unpriced_tokens: 0,
}

/** HEAD as readers see it, and the outbox's other end. */
export function headsOn(db: DatabaseSync): Pick<RunStore, 'head' | 'settleOutbox' | 'moveEntry' | 'moveCheck'> {
  const read = headNow(db)
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  const entry = 'WHERE run = ? AND id = ?'
  const settle = db.prepare(`DELETE FROM outbox ${entry}`)
  const change = db.prepare(`UPDATE outbox SET at = ?, body = ? ${entry} AND body = ?`)
  const remove = db.prepare(`DELETE FROM outbox ${entry} AND body = ?`)
  const move = db.prepare('UPDATE runs SET check_at = ? WHERE run = ? AND check_at = ? AND seq = coalesce(?, seq)')
  return {
    head: async (run, lanes) => read(run, lanes),
    settleOutbox: async (key, ids) => {
      const run = numberOf(key)
      if (run === undefined) return
      const inMemory = (one: LiveRun | undefined) => {
        if (one === undefined) return false
        for (const id of ids) settleEntry(one, id)
        live.changed(one)
        return true
      }
      // Opened: decided again, after a transaction that failed, it is in memory no more.
      const decide = () => void inMemory(live.open(key))
      if (live.peek(run) !== undefined) return decideQuietly(db, decide, nameOf(key))
      await commitTogether(db, () => {
        if (!inMemory(live.peek(run))) for (const id of ids) settle.run(run, id)
      })
    },
    moveEntry: (key, was, to) =>
      commitTogether(
        db,
        () => {
          const run = numberOf(key)
          if (run === undefined) return false
          if (live.peek(run)?.outbox.has(was.id) === false) return false
          live.write()
          const exactly = [run, was.id, JSON.stringify(was)]
          const { changes } =
            to === undefined ? remove.run(...exactly) : change.run(to.at, JSON.stringify(to), ...exactly)
          if (changes > 0) moveEntryOf(live.peek(run), was, to)
          return changes > 0
        },
        nameOf(key),
      ),
    moveCheck: (key, was, to, seq) =>
      commitTogether(
        db,
        () => {
          const run = numberOf(key)
          if (run === undefined) return
          live.write()
          const { changes } = move.run(to ?? null, run, was, seq ?? null)
          const one = live.peek(run)
          if (changes > 0 && one !== undefined) one.check_at = to
        },
        nameOf(key),
      ),
  }
}

function moveEntryOf(one: LiveRun | undefined, was: OutboxEntry, to: OutboxEntry | undefined): void {
  if (to !== undefined) one?.outbox.set(to.id, to)
  else if (one?.outbox.delete(was.id)) one.filed.delete(was.id)
}

/** HEAD of a run: from memory where it is written to, else from the file. */
function headNow(db: DatabaseSync): (run: RunKey, lanes?: readonly string[]) => Head | undefined {
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  const stored = headReader(db)
  return (key, lanes) => {
    const run = numberOf(key)
    const one = run === undefined ? undefined : live.peek(run)
    return one === undefined ? stored(key, lanes) : headOfLive(one, lanes)
  }
}

/** META and HEAD of a run, or which of them cannot be read: both are written with the run's row, in one transaction. */
export function summaryReader(db: DatabaseSync) {
  const metaOf = metaReader(db)
  const headOf = headNow(db)
  return (run: RunKey): RunSummary | Damaged<DamagedRun['item']> => {
    const meta = readOrNameDamage(run, 'META', () => metaOf(run))
    if ('damaged' in meta) return meta
    const head = readOrNameDamage(run, 'HEAD', () => headOf(run))
    return 'damaged' in head ? head : { summary: { ...meta.value, head: head.value } }
  }
}

interface RunSummary {
  readonly summary: Meta & { readonly head: Head }
}

interface Damaged<Item> {
  readonly damaged: { readonly run_id: string; readonly item: Item; readonly seen: string }
}

/** What is read, or what of the run is damaged. */
export function readOrNameDamage<T, const Item extends string>(
  { run_id }: RunKey,
  item: Item,
  read: () => T | undefined,
): { readonly value: T } | Damaged<Item> {
  try {
    const value = read()
    if (value !== undefined) return { value }
    return { damaged: { run_id, item, seen: 'it is missing' } }
  } catch (error) {
    // A disk that does not answer is no damage of this run: everything would be.
    if (error instanceof Fault && error.name !== 'Bug') throw error
    return { damaged: { run_id, item, seen: error instanceof Error ? error.message : String(error) } }
  }
}
