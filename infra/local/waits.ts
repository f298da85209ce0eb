import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../shared/ports/host.ts'
import { laneKey } from '../../shared/runs/lane.ts'
import type { OutsideEvent } from '../../shared/runs/outside-event.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import {
  type CallbackAnswer,
  type EventTopic,
  type EventWait,
  topicsOfEvent,
  topicText,
  type WaitStore,
  waitId,
} from '../../shared/runs/wait-store.ts'
import { transaction } from './database.ts'
import { query } from './run-store/query.ts'

const SCHEMA = `
CREATE TABLE IF NOT EXISTS kept_events (
  tenant TEXT NOT NULL, id TEXT NOT NULL, expires_at TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS kept_events_expiring ON kept_events (expires_at);
CREATE TABLE IF NOT EXISTS event_topics (
  tenant TEXT NOT NULL, topic TEXT NOT NULL, at TEXT NOT NULL, id TEXT NOT NULL, expires_at TEXT NOT NULL,
  PRIMARY KEY (tenant, topic, at, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS event_topics_expiring ON event_topics (expires_at);
CREATE TABLE IF NOT EXISTS event_waits (
  tenant TEXT NOT NULL, topic TEXT NOT NULL, wait TEXT NOT NULL, until TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, topic, wait)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS event_waits_ending ON event_waits (until);
CREATE TABLE IF NOT EXISTS callbacks (
  tenant TEXT NOT NULL, run_id TEXT NOT NULL, place TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, run_id, place)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS wait_tokens (
  tenant TEXT NOT NULL, run_id TEXT NOT NULL, wait TEXT NOT NULL, n INTEGER NOT NULL, token TEXT NOT NULL,
  PRIMARY KEY (tenant, run_id, wait, n)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS callback_keys (tenant TEXT PRIMARY KEY, key BLOB NOT NULL) WITHOUT ROWID;`

/** Where others reach this place, as far as that is known. */
export interface PlaceAddress {
  url?: string | undefined
}

/**
 * The WaitStore port of the local place, in an open database; makes its tables when they are not there. What has expired
 * goes with the next event that is kept.
 */
export function openWaits(
  db: DatabaseSync,
  clock: Pick<Clock, 'now'>,
  address: PlaceAddress,
  random: (bytes: number) => Uint8Array = randomBytes,
): WaitStore {
  transaction(db, () => db.exec(SCHEMA))
  return { ...events(db, clock), ...waits(db), ...answers(db, random), address: () => address.url }
}

type Body = { readonly body: string }

function events(db: DatabaseSync, clock: Pick<Clock, 'now'>): Pick<WaitStore, 'keepEvent' | 'keptEvents'> {
  const one = query<Body>(db, 'SELECT body FROM kept_events WHERE tenant = ? AND id = ?')
  const page = query<Body & { readonly at: string; readonly id: string }>(
    db,
    `SELECT t.at, t.id, e.body FROM event_topics t JOIN kept_events e ON e.tenant = t.tenant AND e.id = t.id
     WHERE t.tenant = ? AND t.topic = ? AND t.expires_at > ? AND t.at || '/' || t.id < ?
     ORDER BY t.at DESC, t.id DESC LIMIT ?`,
  )
  const keep = db.prepare('INSERT OR IGNORE INTO kept_events (tenant, id, expires_at, body) VALUES (?, ?, ?, ?)')
  const list = db.prepare(
    'INSERT OR IGNORE INTO event_topics (tenant, topic, at, id, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const forgetEvents = db.prepare('DELETE FROM kept_events WHERE expires_at <= ?')
  const forgetTopics = db.prepare('DELETE FROM event_topics WHERE expires_at <= ?')
  return {
    keepEvent: async (event) =>
      transaction(db, () => {
        const now = new Date(clock.now()).toISOString()
        forgetEvents.run(now)
        forgetTopics.run(now)
        keep.run(event.tenant, event.id, event.expires_at, JSON.stringify(event))
        const kept = eventOf(one.one(event.tenant, event.id) ?? { body: JSON.stringify(event) })
        for (const topic of topicsOfEvent(kept)) {
          list.run(kept.tenant, topicText(topic), kept.at, kept.id, kept.expires_at)
        }
        return kept
      }),
    keptEvents: async (topic, { now, limit, after = AFTER_ALL }) => {
      const rows = page.all(topic.tenant, topicText(topic), now, after, limit)
      const last = rows.length < limit ? undefined : rows.at(-1)
      return { events: rows.map(eventOf), ...(last === undefined ? {} : { next: `${last.at}/${last.id}` }) }
    },
  }
}

/** Greater than any time. */
const AFTER_ALL = '~'

/** Our own text. */
function eventOf({ body }: Body): OutsideEvent {
  return JSON.parse(body)
}

function waits(db: DatabaseSync): Pick<WaitStore, 'register' | 'registered' | 'forget'> {
  const add = db.prepare('INSERT OR REPLACE INTO event_waits (tenant, topic, wait, until, body) VALUES (?, ?, ?, ?, ?)')
  const page = query<Body & { readonly wait: string }>(
    db,
    'SELECT wait, body FROM event_waits WHERE tenant = ? AND topic = ? AND wait > ? ORDER BY wait LIMIT ?',
  )
  const forget = db.prepare('DELETE FROM event_waits WHERE tenant = ? AND topic = ? AND wait = ?')
  return {
    register: async (wait) =>
      transaction(db, () => {
        add.run(wait.tenant, topicText(wait), nameOf(wait), wait.until, JSON.stringify(wait))
      }),
    registered: async (topic: EventTopic, { limit, after = '' }) => {
      const rows = page.all(topic.tenant, topicText(topic), after, limit)
      const last = rows.length < limit ? undefined : rows.at(-1)
      const found = rows.map(({ body }): EventWait => JSON.parse(body))
      return { waits: found, ...(last === undefined ? {} : { next: last.wait }) }
    },
    forget: async (wait) =>
      transaction(db, () => {
        forget.run(wait.tenant, topicText(wait), nameOf(wait))
      }),
  }
}

function nameOf(wait: EventWait): string {
  return `${wait.run_id}/${waitId(wait)}`
}

function answers(
  db: DatabaseSync,
  random: (bytes: number) => Uint8Array,
): Pick<WaitStore, 'keepCallback' | 'callback' | 'addToken' | 'tokens' | 'signingKey'> {
  const keep = db.prepare('INSERT OR IGNORE INTO callbacks (tenant, run_id, place, body) VALUES (?, ?, ?, ?)')
  const kept = query<Body>(db, 'SELECT body FROM callbacks WHERE tenant = ? AND run_id = ? AND place = ?')
  const addToken = db.prepare(
    `INSERT INTO wait_tokens (tenant, run_id, wait, n, token)
     SELECT ?1, ?2, ?3, (SELECT count(*) FROM wait_tokens WHERE tenant = ?1 AND run_id = ?2 AND wait = ?3), ?4
     WHERE NOT EXISTS (SELECT 1 FROM wait_tokens WHERE tenant = ?1 AND run_id = ?2 AND wait = ?3 AND token = ?4)`,
  )
  const tokens = query<{ readonly token: string }>(
    db,
    'SELECT token FROM wait_tokens WHERE tenant = ? AND run_id = ? AND wait = ? ORDER BY n',
  )
  const makeKey = db.prepare('INSERT OR IGNORE INTO callback_keys (tenant, key) VALUES (?, ?)')
  const key = query<{ readonly key: Uint8Array }>(db, 'SELECT key FROM callback_keys WHERE tenant = ?')
  const read = ({ tenant, run_id }: RunKey, place: string): CallbackAnswer | undefined => {
    const row = kept.one(tenant, run_id, place)
    return row === undefined ? undefined : JSON.parse(row.body)
  }
  return {
    keepCallback: async (run, of, answer) =>
      transaction(db, () => {
        const place = placeOf(of)
        keep.run(run.tenant, run.run_id, place, JSON.stringify(answer))
        return read(run, place) ?? answer
      }),
    callback: async (run, of) => read(run, placeOf(of)),
    addToken: async ({ tenant, run_id }, wait, token) =>
      transaction(db, () => {
        addToken.run(tenant, run_id, wait, token)
      }),
    tokens: async ({ tenant, run_id }, wait) => tokens.all(tenant, run_id, wait).map(({ token }) => token),
    signingKey: async (tenant) =>
      transaction(db, () => {
        if (key.one(tenant) === undefined) makeKey.run(tenant, random(32))
        return key.one(tenant)?.key ?? new Uint8Array()
      }),
  }
}

function placeOf({ block, epoch }: { readonly block: number; readonly epoch: number }): string {
  return `${laneKey({ block })}/${epoch}`
}
