import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { GraphStore } from '../../shared/graph/graph-store.ts'
import type { SearchIndex } from '../../shared/graph/search-index.ts'
import type { Clock, ObjectStore } from '../../shared/world.ts'
import { type IndexReader, indexReader } from './index-reader.ts'
import { openIndexToRead } from './open-index.ts'

export interface SnapshotSource {
  readonly graph: Pick<GraphStore, 'manifest'>
  readonly snapshots: Pick<ObjectStore, 'get'>
  readonly clock: Pick<Clock, 'now'>
  /** Where snapshots are opened: /tmp on AWS. */
  readonly folder: string
}

/** How old what a reader knows of the manifest may be. */
const LOOK_EVERY_MS = 5_000
/** Indexes kept open by one sandbox, each with a file of up to some hundred MB. */
const MOST_OPEN = 3

interface Opened {
  readonly reader: IndexReader
  readonly version: number
  close(): void
}

interface Kept {
  looked_at: number
  opened: Opened | undefined
  /** One look at a time; others wait for it. */
  looking: Promise<void> | undefined
}

/**
 * The SearchIndex port over published snapshots: the newest is opened read-only and looked after at most each 5 s, by
 * whoever asks then; while that fails the older one goes on answering, as its `as_of` says. A tenant without an index
 * has no hits.
 */
export function openSnapshotIndex(source: SnapshotSource): SearchIndex {
  const kept = new Map<string, Kept>()
  const readerOf = async (tenant: string): Promise<IndexReader | undefined> => {
    const mine = kept.get(tenant) ?? { looked_at: -Infinity, opened: undefined, looking: undefined }
    kept.delete(tenant)
    kept.set(tenant, mine)
    closeOldest(kept)
    if (source.clock.now() - mine.looked_at >= LOOK_EVERY_MS) {
      mine.looking ??= look(source, tenant, mine).finally(() => {
        mine.looking = undefined
      })
    }
    await mine.looking
    return mine.opened?.reader
  }
  return {
    search: async (tenant, query) => (await readerOf(tenant))?.search(query) ?? { hits: [] },
    lookup: async (tenant, by, text) => (await readerOf(tenant))?.lookup(by, text) ?? { entity_ids: [] },
    diffuse: async (tenant, query) => (await readerOf(tenant))?.diffuse(query) ?? { hits: [] },
    follow: async (tenant, query) => (await readerOf(tenant))?.follow(query) ?? { hits: [] },
  }
}

async function look(source: SnapshotSource, tenant: string, mine: Kept): Promise<void> {
  try {
    const manifest = await source.graph.manifest(tenant)
    if (manifest !== undefined && manifest.version !== mine.opened?.version) {
      const body = await source.snapshots.get(tenant, manifest.ref)
      const before = mine.opened
      mine.opened = openSnapshot(source.folder, tenant, manifest.version, body) ?? before
      if (mine.opened !== before) before?.close()
    }
    mine.looked_at = source.clock.now()
  } catch (cause) {
    if (mine.opened === undefined) throw cause
    mine.looked_at = source.clock.now()
  }
}

/** undefined: it is of another version, which the next publication replaces. */
function openSnapshot(folder: string, tenant: string, version: number, body: Uint8Array): Opened | undefined {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${tenant}-${version}.db`)
  writeFileSync(file, body)
  const db: DatabaseSync | undefined = openIndexToRead(file)
  const close = () => {
    db?.close()
    rmSync(file, { force: true })
  }
  if (db !== undefined) return { reader: indexReader(db), version, close }
  close()
  return undefined
}

/** Files of tenants nobody asked about lately. One that is being looked at stays. */
function closeOldest(kept: Map<string, Kept>): void {
  for (const [tenant, { opened, looking }] of kept) {
    if (kept.size <= MOST_OPEN) return
    if (looking !== undefined) continue
    opened?.close()
    kept.delete(tenant)
  }
}
