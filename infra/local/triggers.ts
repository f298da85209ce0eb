import type { DatabaseSync } from 'node:sqlite'
import { sha256 } from '../../shared/text/hash.ts'
import type { TriggerKey } from '../../shared/triggers/trigger.ts'
import type { Firing, TriggerState, TriggerStore } from '../../shared/triggers/trigger-store.ts'
import { transaction } from './database.ts'
import { query } from './run-store/query.ts'

const SCHEMA = `
CREATE TABLE IF NOT EXISTS trigger_states (
  tenant TEXT NOT NULL, document TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, document, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS firings (
  tenant TEXT NOT NULL, document TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, place TEXT NOT NULL,
  state TEXT NOT NULL, kept_at TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, document, name, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS firings_by_time ON firings (tenant, document, name, place);
CREATE INDEX IF NOT EXISTS firings_owed ON firings (tenant, place) WHERE state = 'owed';
CREATE INDEX IF NOT EXISTS firings_kept ON firings (kept_at);`

type Body = { readonly body: string }

/** The TriggerStore port of the local place, in an open database; makes its tables when they are not there. */
export function openTriggers(db: DatabaseSync): TriggerStore {
  transaction(db, () => db.exec(SCHEMA))
  return { ...states(db), ...firings(db) }
}

function states(db: DatabaseSync): Pick<TriggerStore, 'state' | 'putState'> {
  const one = query<Body>(db, 'SELECT body FROM trigger_states WHERE tenant = ? AND document = ? AND name = ?')
  const make = db.prepare(
    'INSERT OR IGNORE INTO trigger_states (tenant, document, name, version, body) VALUES (?, ?, ?, ?, ?)',
  )
  const move = db.prepare(
    'UPDATE trigger_states SET version = ?, body = ? WHERE tenant = ? AND document = ? AND name = ? AND version = ?',
  )
  return {
    state: async ({ tenant, document, trigger }) => {
      const row = one.one(tenant, document, trigger)
      return row === undefined ? undefined : stateOf(row)
    },
    putState: async (state) =>
      transaction(db, () => {
        const { tenant, document, trigger, version } = state
        const body = JSON.stringify(state)
        const { changes } =
          version === 1
            ? make.run(tenant, document, trigger, version, body)
            : move.run(version, body, tenant, document, trigger, version - 1)
        return changes === 1
      }),
  }
}

/** Our own text. */
function stateOf({ body }: Body): TriggerState {
  return JSON.parse(body)
}

function firingOf({ body }: Body): Firing {
  return JSON.parse(body)
}

/** By time, and of one time by what no other firing has. */
function placeOf({ at, document, trigger, id }: Firing): string {
  return `${at}/${sha256(JSON.stringify([document, trigger, id]))}`
}

function firings(db: DatabaseSync): Omit<TriggerStore, 'state' | 'putState'> {
  const one = query<Body>(db, 'SELECT body FROM firings WHERE tenant = ? AND document = ? AND name = ? AND id = ?')
  const keep = db.prepare(
    'INSERT OR IGNORE INTO firings (tenant, document, name, id, place, state, kept_at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const move = db.prepare(
    "UPDATE firings SET state = ?, body = ? WHERE tenant = ? AND document = ? AND name = ? AND id = ? AND state = 'owed'",
  )
  const forget = db.prepare(
    "UPDATE firings SET body = ? WHERE tenant = ? AND document = ? AND name = ? AND id = ? AND state <> 'owed'",
  )
  const page = query<Body & { readonly place: string }>(
    db,
    'SELECT place, body FROM firings WHERE tenant = ? AND document = ? AND name = ? AND place < ? ORDER BY place DESC LIMIT ?',
  )
  const owed = query<Body>(db, "SELECT body FROM firings WHERE tenant = ? AND state = 'owed' ORDER BY place LIMIT ?")
  const read = ({ tenant, document, trigger }: TriggerKey, id: string): Firing | undefined => {
    const row = one.one(tenant, document, trigger, id)
    return row === undefined ? undefined : firingOf(row)
  }
  const listOwed = async (tenant: string, limit: number) => owed.all(tenant, limit).map(firingOf)
  return {
    keepFiring: async (firing) =>
      transaction(db, () => {
        const { tenant, document, trigger, id, state, kept_at } = firing
        keep.run(tenant, document, trigger, id, placeOf(firing), state, kept_at, JSON.stringify(firing))
        return read(firing, id) ?? firing
      }),
    firing: async (trigger, id) => read(trigger, id),
    moveFiring: async (firing) =>
      transaction(db, () => {
        const { tenant, document, trigger, id, state } = firing
        return move.run(state, JSON.stringify(firing), tenant, document, trigger, id).changes === 1
      }),
    forgetInputs: async (trigger, id) =>
      transaction(db, () => {
        const firing = read(trigger, id)
        if (firing === undefined || firing.state === 'owed') return
        const { values: _, object: __, ...rest } = firing
        forget.run(JSON.stringify(rest), trigger.tenant, trigger.document, trigger.trigger, id)
      }),
    firings: async ({ tenant, document, trigger }, { limit, after = AFTER_ALL }) => {
      const rows = page.all(tenant, document, trigger, after, limit)
      const last = rows.length < limit ? undefined : rows.at(-1)
      return { firings: rows.map(firingOf), ...(last === undefined ? {} : { next: last.place }) }
    },
    owed: listOwed,
    takeOwed: listOwed,
  }
}

/** Greater than any time. */
const AFTER_ALL = '~'

/** Removes firings that are over and were kept before that time; those that are owed stay. */
export function removeOldFirings(db: DatabaseSync, before: string): void {
  db.prepare("DELETE FROM firings WHERE kept_at < ? AND state <> 'owed'").run(before)
}
