import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'
import type { GraphChange, IndexManifest } from '../../shared/graph/graph-store.ts'
import type { Ids } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { keepGraph } from './graph-image.ts'
import { openIndexToWrite } from './index-file.ts'
import { applyChanges, findMentions, type IndexSource, indexAll } from './index-writer.ts'

interface PublishSource extends IndexSource {
  /** Apart from the bodies: a snapshot is soon replaced. */
  readonly snapshots: Pick<ObjectStore, 'get' | 'put'>
  readonly ids: Pick<Ids, 'random'>
  /** Where the copy is worked on: /tmp on AWS. It needs three times the size of the index. */
  readonly folder: string
  /** What is published cannot be opened: the index is made anew, also where nothing changed. */
  readonly anew?: boolean
  /** ISO; past it the index is published as far as it is, and the rest is for the next call. */
  readonly until: string
}

/** `lost`: another writer published first; his work holds, and what this one did is thrown away. */
type Published = {
  readonly outcome: 'published' | 'unchanged' | 'lost'
  /** There may be more to do. */
  readonly more: boolean
}

/**
 * Makes the next snapshot of a tenant's index: copies the last, applies the change log, writes the whole anew (VACUUM
 * INTO, so that nothing deleted is left in it), stores it by its hash and moves the manifest. Entries leave the log only
 * after that, so a crash anywhere loses nothing. Any number may run at once; one wins.
 */
export async function publishIndex(source: PublishSource): Promise<Published> {
  const { graph, tenant, folder } = source
  const manifest = await graph.manifest(tenant)
  const [waiting] = await graph.changes(tenant, 1)
  if (waiting === undefined && source.anew !== true) return { outcome: 'unchanged', more: false }
  const name = join(folder, `index-${Buffer.from(source.ids.random(8)).toString('hex')}`)
  try {
    const { db, fresh } = await openCopy(source, manifest, `${name}.db`)
    try {
      if (fresh && manifest !== undefined) await indexAll(db, source)
      const applied = await applyAll(db, source)
      if (!applied.changed && !fresh) {
        await graph.dropChanges(tenant, applied.done)
        return { outcome: 'unchanged', more: applied.more }
      }
      await findMentions(db, source.pause)
      await keepGraph(db, source.pause)
      db.prepare('VACUUM INTO ?').run(`${name}.out.db`)
      return await publish(source, manifest, applied, readFileSync(`${name}.out.db`))
    } finally {
      db.close()
    }
  } finally {
    for (const file of [`${name}.db`, `${name}.db-journal`, `${name}.out.db`]) rmSync(file, { force: true })
  }
}

/** The last snapshot as a file of our own; a new one where there is none, it expired, or it is of another version. */
async function openCopy(
  { snapshots, tenant, anew, links }: PublishSource,
  manifest: IndexManifest | undefined,
  file: string,
): Promise<{ readonly db: DatabaseSync; readonly fresh: boolean }> {
  const body =
    manifest === undefined || anew === true ? undefined : await snapshots.get(tenant, manifest.ref).catch(absent)
  if (body !== undefined) {
    writeFileSync(file, body)
    const db = openIndexToWrite(file, links)
    if (db !== undefined) return { db: unguarded(db), fresh: false }
    rmSync(file)
  }
  const db = openIndexToWrite(file, links)
  if (db === undefined) throw new Fault('Bug', 'index_unavailable', `Cannot make a search index at "${file}".`)
  return { db: unguarded(db), fresh: true }
}

/** A copy that is lost is made again: it needs no journal on disk. */
function unguarded(db: DatabaseSync): DatabaseSync {
  db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF')
  return db
}

function absent(cause: unknown): undefined {
  if (cause instanceof Fault && (cause.code === 'object_missing' || cause.code === 'object_corrupt')) return undefined
  throw cause
}

interface AppliedAll {
  readonly done: readonly GraphChange[]
  readonly changed: boolean
  readonly as_of: string
  readonly more: boolean
}

async function applyAll(db: DatabaseSync, source: PublishSource): Promise<AppliedAll> {
  const done: GraphChange[] = []
  let changed = false
  let as_of = ''
  let next: string | undefined
  do {
    const applied = await applyChanges(db, source, next)
    done.push(...applied.done)
    changed ||= applied.changed
    as_of = applied.as_of
    next = applied.next
  } while (next !== undefined && source.clock.now() < Date.parse(source.until))
  return { done, changed, as_of, more: next !== undefined }
}

async function publish(
  { graph, snapshots, tenant }: PublishSource,
  manifest: IndexManifest | undefined,
  { done, as_of, more }: AppliedAll,
  body: Uint8Array,
): Promise<Published> {
  const { ref } = await snapshots.put(tenant, body)
  const moved = await graph.moveManifest(tenant, manifest?.version ?? 0, { ref, as_of })
  if (!moved) return { outcome: 'lost', more: true }
  await graph.dropChanges(tenant, done)
  return { outcome: 'published', more }
}
