import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import type { SearchIndex } from '../../shared/graph/search-index.ts'
import { openSnapshotIndex } from '../search/snapshot-index.ts'
import { CLIENT_OPTIONS } from './client-options.ts'
import { openGraphStore } from './graph-store/open-graph-store.ts'
import { openObjects } from './objects.ts'
import type { Core } from './world.ts'

/** A snapshot of some hundred MB takes seconds. */
const REQUEST_MS = 60_000

/** The SearchIndex port on AWS: the newest snapshot of the object store, opened from the sandbox's own disk. */
export function openSearchIndex(
  core: Pick<Core, 'env' | 'clock' | 'ids'>,
  config: { readonly table?: DynamoDBClientConfig; readonly bucket?: S3ClientConfig; readonly folder?: string } = {},
): SearchIndex {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  return openSnapshotIndex({
    graph: openGraphStore(core, config.table),
    objects: openObjects(core, { requestHandler, ...config.bucket }),
    clock: core.clock,
    folder: config.folder ?? join(tmpdir(), 'sluice-index'),
  })
}
