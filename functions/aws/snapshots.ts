import type { S3ClientConfig } from '@aws-sdk/client-s3'
import type { ObjectStore } from '../../shared/world.ts'
import { CLIENT_OPTIONS } from './client-options.ts'
import { openObjects } from './objects.ts'
import type { Core } from './world.ts'

/** A snapshot of some hundred MB takes seconds. */
const REQUEST_MS = 60_000

/** Where snapshots of the search index lie: objects by their hash, in a folder that is emptied within days. */
export function openSnapshots(core: Pick<Core, 'env'>, config: S3ClientConfig = {}): ObjectStore {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  return openObjects(core, { requestHandler, ...config }, 'index')
}
