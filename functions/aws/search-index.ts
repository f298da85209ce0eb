import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { Fault } from '../../shared/errors.ts'
import type { IndexManifest } from '../../shared/graph/graph-store.ts'
import type { Indexing, SearchIndex } from '../../shared/graph/search-index.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { isPresentIndex } from '../search/index-file.ts'
import { openSnapshotIndex } from '../search/index-reader.ts'
import { publishIndex } from '../search/publish-index.ts'
import type { Core } from './core.ts'
import { bodiesWalkOn } from './graph-store/change-log.ts'
import { openGraphStore } from './graph-store/graph-store.ts'
import { openGraphTable } from './graph-store/graph-table.ts'
import { openObjects, openSnapshots } from './objects.ts'
import { tableClient } from './run-store/table.ts'

/** The SearchIndex port on AWS: the newest snapshot of the object store, opened from the sandbox's own disk. */
export function openSearchIndex(
  core: Pick<Core, 'env' | 'clock' | 'ids'>,
  config: { readonly table?: DynamoDBClientConfig; readonly bucket?: S3ClientConfig; readonly folder?: string } = {},
): SearchIndex {
  return openSnapshotIndex({
    graph: openGraphStore(core, config.table),
    snapshots: openSnapshots(core, config.bucket),
    clock: core.clock,
    folder: config.folder ?? join(tmpdir(), 'sluice-index'),
  })
}

/**
 * The Indexing port on AWS: snapshots made on the sandbox's own disk. Each sandbox opens the published one once: where it
 * is gone, damaged, of another version or with the other setting of links (a deployment may bring both) it is made anew
 * from the graph.
 */
export function openIndexing(
  core: Pick<Core, 'env' | 'clock' | 'ids' | 'settings'>,
  config: { readonly table?: DynamoDBClientConfig; readonly bucket?: S3ClientConfig; readonly folder?: string } = {},
): Indexing {
  const { clock, ids } = core
  const { links } = core.settings.graph
  const graph = openGraphStore(core, config.table)
  const objects = openObjects(core, config.bucket)
  const snapshots = openSnapshots(core, config.bucket)
  const folder = config.folder ?? join(tmpdir(), 'sluice-indexing')
  /** The version that was opened last, by tenant. */
  const opened = new Map<string, number>()
  const needsAnew = async (tenant: string, manifest: IndexManifest): Promise<boolean> => {
    if (opened.get(tenant) === manifest.version) return false
    const body = await snapshotOf(snapshots, tenant, manifest)
    const file = join(folder, `look-${Buffer.from(ids.random(8)).toString('hex')}.db`)
    return body === undefined || !isPresentIndex(body, file, links)
  }
  return {
    async publish(tenant, until) {
      mkdirSync(folder, { recursive: true })
      const manifest = await graph.manifest(tenant)
      const anew = manifest !== undefined && (await needsAnew(tenant, manifest))
      const published = await publishIndex({
        graph,
        objects,
        snapshots,
        clock,
        ids,
        tenant,
        folder,
        until,
        anew,
        links,
      })
      const version = (manifest?.version ?? 0) + (published.outcome === 'published' ? 1 : 0)
      if (published.outcome !== 'lost') opened.set(tenant, version)
      return published
    },
    async keep(tenant) {
      const manifest = await graph.manifest(tenant)
      const body = manifest === undefined ? undefined : await snapshotOf(snapshots, tenant, manifest)
      if (body !== undefined) await snapshots.put(tenant, body)
    },
    ...bodiesWalkOn(openGraphTable({ ...tableClient(core.env, config.table ?? {}), clock, ids }, 0)),
  }
}

async function snapshotOf(
  snapshots: Pick<ObjectStore, 'get'>,
  tenant: string,
  { ref }: IndexManifest,
): Promise<Uint8Array | undefined> {
  try {
    return await snapshots.get(tenant, ref)
  } catch (cause) {
    if (cause instanceof Fault && (cause.code === 'object_missing' || cause.code === 'object_corrupt')) return undefined
    throw cause
  }
}
