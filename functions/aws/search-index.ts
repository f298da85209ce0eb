import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import type { SearchIndex } from '../../shared/graph/search-index.ts'
import { openSnapshotIndex } from '../search/snapshot-index.ts'
import { openGraphStore } from './graph-store/open-graph-store.ts'
import { openSnapshots } from './snapshots.ts'
import type { Core } from './world.ts'

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
