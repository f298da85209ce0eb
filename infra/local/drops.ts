import { constants, type Dirent, type Stats } from 'node:fs'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { triggersOf } from '../../shared/document/trigger-section.ts'
import type { Clock, Log } from '../../shared/ports/host.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { type DroppedBody, type Drops, isOfTrigger } from '../../shared/triggers/drops.ts'
import type { ObjectTrigger } from '../../shared/triggers/trigger.ts'
import type { World } from '../../shared/world.ts'
import { transaction } from './database.ts'
import { query } from './run-store/query.ts'

/** The folder whose files are dropped ones: that of the inputs, of which each tenant has its own where there are several. */
export function dropFolder({ inputs_dir, tenants, triggers }: Pick<Settings, 'inputs_dir' | 'tenants' | 'triggers'>) {
  return tenants.length > 1 ? join(inputs_dir, triggers.tenant) : inputs_dir
}

/** The Drops port on a folder: regular files whose real path lies below it. */
export function openDrops(folder: string): Drops {
  return {
    async read({ key, version }, most_bytes): Promise<DroppedBody> {
      try {
        return await readFile(folder, key, version, most_bytes)
      } catch (error) {
        if (GONE.has((error as NodeJS.ErrnoException).code ?? '')) return { is: 'gone' }
        throw error
      }
    },
  }
}

/** Absent, no file any more, or a link. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP'])

async function readFile(folder: string, key: string, version: string, most_bytes: number): Promise<DroppedBody> {
  const path = await realpath(join(folder, key))
  if (!path.startsWith((await realpath(folder)) + sep)) return { is: 'gone' }
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const before = await handle.stat()
    if (!before.isFile() || versionOf(before) !== version) return { is: 'gone' }
    if (before.size > most_bytes) return { is: 'too_large', bytes: before.size }
    const body = await handle.readFile()
    // Written while it was read: it is another version now.
    return versionOf(await handle.stat()) === version ? { is: 'there', body } : { is: 'gone' }
  } finally {
    await handle.close()
  }
}

/** As far as a folder tells: one that is copied with its times, or whose rights change, is the same. */
function versionOf({ size, mtimeMs }: Pick<Stats, 'size' | 'mtimeMs'>): string {
  return `${Math.round(mtimeMs * 1_000)}-${size}`
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS drop_watches (
  document TEXT NOT NULL, name TEXT NOT NULL, prefix TEXT NOT NULL, suffix TEXT NOT NULL,
  PRIMARY KEY (document, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS drops_seen (
  document TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL,
  PRIMARY KEY (document, name, key)) WITHOUT ROWID;`

/** A file that is written has another size or time soon: so long it must have been as it is. */
const STILL_MS = 2_000
/** Of one trigger. More files in one folder are not looked at: they would be, each second. */
const MOST_FILES = 10_000
const PER_LOOK = 100

interface WatchParts {
  readonly world: Pick<World, 'documents' | 'settings'>
  readonly db: DatabaseSync
  /** Calls take-object. */
  readonly take: (payload: object) => Promise<unknown>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'error'>
}

interface Found {
  readonly key: string
  readonly version: string
}

/**
 * Looks through the folder for what S3 tells a stage of: files that are new, or written anew, and whole. What was told is kept, so
 * that a place that stood still tells of what came meanwhile; a file that was there before its trigger is none of it. Who dies
 * after it has told and before that is kept tells again, and that is the same firing.
 */
export function createDropWatch({ world, db, take, clock, log }: WatchParts): () => Promise<void> {
  const folder = dropFolder(world.settings)
  const seen = openSeen(db)
  /** Since when a file has been as it is, by trigger and key. */
  const still = new Map<string, Found & { readonly since: number }>()
  const told = new Set<string>()
  const tellOfTooMany = (document: string, trigger: string): void => {
    if (told.has(trigger)) return
    told.add(trigger)
    log.error('too many dropped files', { document, trigger, most: MOST_FILES })
  }
  /** Since when it has been as it is, if that is long enough: else it may still be written. */
  const wholeSince = (place: string, file: Found, now: number): number | undefined => {
    const last = still.get(place)
    if (last?.version !== file.version) {
      still.set(place, { ...file, since: now })
      return undefined
    }
    return now - last.since < STILL_MS ? undefined : last.since
  }
  const lookFor = async (document: string, trigger: ObjectTrigger): Promise<void> => {
    const { name } = trigger
    const files = await listFiles(folder, trigger)
    if (files.length >= MOST_FILES) tellOfTooMany(document, name)
    if (!seen.isWatched(document, trigger)) return seen.begin(document, trigger, files)
    const before = seen.versions(document, name)
    await takeWhole(
      document,
      name,
      files.filter(({ key, version }) => before.get(key) !== version),
    )
    const there = new Set(files.map(({ key }) => key))
    for (const key of before.keys()) if (!there.has(key)) seen.forget(document, name, key)
  }
  const takeWhole = async (document: string, name: string, files: readonly Found[]): Promise<void> => {
    const now = clock.now()
    let left = PER_LOOK
    for (const file of files) {
      if (left === 0) return
      const place = canonicalJson([document, name, file.key])
      const since = wholeSince(place, file, now)
      if (since === undefined) continue
      left -= 1
      const at = new Date(since).toISOString()
      await take({ document, trigger: name, object: { ...file, at } })
      seen.note(document, name, file)
      still.delete(place)
    }
  }
  return async () => {
    const { watched, unread } = await watchedIn(world)
    seen.keepOnly(
      watched.map(({ document, trigger }) => [document, trigger.name]),
      unread,
    )
    for (const { document, trigger } of watched) {
      await lookFor(document, trigger).catch((error: unknown) =>
        log.error('dropped files could not be looked at', { document, trigger: trigger.name, error: String(error) }),
      )
    }
  }
}

interface Watched {
  readonly document: string
  readonly trigger: ObjectTrigger
}

const known = new Map<string, ReturnType<typeof triggersOf>>()
const MOST_KNOWN = 1_000

/** Triggers by objects of every deployed document; `unread`: documents in which something of theirs cannot be read now. */
async function watchedIn({ documents }: WatchParts['world']) {
  const watched: Watched[] = []
  const unread: string[] = []
  for (const document of documents.names('deployed')) {
    const text = await documents.read(document, 'deployed').catch(() => null)
    if (text === undefined || (text !== null && !text.includes('object'))) continue
    const { triggers, sound } = text === null ? NOTHING_READ : readOnce(text)
    if (!sound) unread.push(document)
    watched.push(...triggers.flatMap((trigger) => (trigger.kind === 'object' ? [{ document, trigger }] : [])))
  }
  return { watched, unread }
}

const NOTHING_READ = { triggers: [], sound: false } as const

/** Somebody looks each second. */
function readOnce(text: string): ReturnType<typeof triggersOf> {
  const there = known.get(text)
  if (there !== undefined) return there
  const read = triggersOf(text)
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(text, read)
  return read
}

/** What was told of, and of which triggers files are watched for. */
function openSeen(db: DatabaseSync) {
  transaction(db, () => db.exec(SCHEMA))
  const watch = query<{ readonly name: string }>(
    db,
    'SELECT name FROM drop_watches WHERE document = ? AND name = ? AND prefix = ? AND suffix = ?',
  )
  const all = query<{ readonly document: string; readonly name: string }>(db, 'SELECT document, name FROM drop_watches')
  const begin = db.prepare('INSERT OR REPLACE INTO drop_watches (document, name, prefix, suffix) VALUES (?, ?, ?, ?)')
  const versions = query<Found>(db, 'SELECT key, version FROM drops_seen WHERE document = ? AND name = ?')
  const note = db.prepare('INSERT OR REPLACE INTO drops_seen (document, name, key, version) VALUES (?, ?, ?, ?)')
  const forget = db.prepare('DELETE FROM drops_seen WHERE document = ? AND name = ? AND key = ?')
  const forgetAll = db.prepare('DELETE FROM drops_seen WHERE document = ? AND name = ?')
  const end = db.prepare('DELETE FROM drop_watches WHERE document = ? AND name = ?')
  return {
    /** Of the same keys: what others are there already is none of what is dropped now. */
    isWatched: (document: string, { name, object: { prefix, suffix } }: ObjectTrigger) =>
      watch.one(document, name, prefix, suffix) !== undefined,
    begin(document: string, { name, object: { prefix, suffix } }: ObjectTrigger, files: readonly Found[]): void {
      transaction(db, () => {
        for (const { key, version } of files) note.run(document, name, key, version)
        begin.run(document, name, prefix, suffix)
      })
    },
    versions: (document: string, name: string) =>
      new Map(versions.all(document, name).map(({ key, version }) => [key, version])),
    note(document: string, name: string, { key, version }: Found): void {
      transaction(db, () => note.run(document, name, key, version))
    },
    forget(document: string, name: string, key: string): void {
      transaction(db, () => forget.run(document, name, key))
    },
    /** One that was taken away begins anew when it is put back; what cannot be read now is not taken away. */
    keepOnly(declared: readonly (readonly [string, string])[], unsound: readonly string[]): void {
      const known = new Set(declared.map((one) => canonicalJson(one)))
      const over = all
        .all()
        .filter(({ document, name }) => !unsound.includes(document) && !known.has(canonicalJson([document, name])))
      if (over.length === 0) return
      transaction(db, () => {
        for (const { document, name } of over) {
          forgetAll.run(document, name)
          end.run(document, name)
        }
      })
    },
  }
}

/** Oldest first. Names that begin with a dot are of nobody's who drops; nor are links, whose files may be anywhere. */
async function listFiles(folder: string, trigger: ObjectTrigger): Promise<readonly Found[]> {
  const found: (Found & { readonly mtimeMs: number })[] = []
  const take = async (key: string): Promise<void> => {
    const stats = await lstat(join(folder, key)).catch(absent)
    if ('isFile' in stats && stats.isFile()) found.push({ key, version: versionOf(stats), mtimeMs: stats.mtimeMs })
  }
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(absent)
    for (const entry of entries) {
      if (found.length >= MOST_FILES) return
      if (!isOfNobody(entry.name)) await visit(entry, `${below}${entry.name}`)
    }
  }
  const visit = async (entry: Dirent, key: string): Promise<void> => {
    if (entry.isDirectory() && mayHold(trigger, `${key}/`)) await walk(`${key}/`)
    if (entry.isFile() && isOfTrigger(trigger, key)) await take(key)
  }
  await walk('')
  return found
    .toSorted((a, b) => a.mtimeMs - b.mtimeMs || (a.key < b.key ? -1 : 1))
    .map(({ key, version }) => ({ key, version }))
}

function isOfNobody(name: string): boolean {
  return name.startsWith('.') || name.includes('\\')
}

/** Whether keys of the trigger may lie below a folder, named with its slash. */
function mayHold({ object: { prefix } }: ObjectTrigger, below: string): boolean {
  return prefix.startsWith(below) || below.startsWith(prefix)
}

/** Removed meanwhile, or not made yet. */
function absent(error: unknown): readonly never[] {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return []
  throw error
}
