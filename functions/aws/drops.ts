import { GetObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import type { DroppedBody, Drops } from '../../shared/triggers/drops.ts'
import { type Core, requiredVariable } from './core.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

/** A body of 64 MiB takes seconds. */
const REQUEST_MS = 60_000

/** The Drops port on the bucket people drop things into: a version by its id, whatever was put over it since. */
export function openDrops({ env }: Pick<Core, 'env'>, config: S3ClientConfig = {}): Drops {
  const Bucket = requiredVariable(env, 'DROPS')
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  const client = new S3Client({ ...CLIENT_OPTIONS, requestHandler, ...config })
  return {
    async read({ key: Key, version: VersionId }, most_bytes): Promise<DroppedBody> {
      try {
        const { Body, ContentLength = 0 } = await client.send(new GetObjectCommand({ Bucket, Key, VersionId }))
        if (ContentLength > most_bytes) {
          // The connection is not to bring the rest.
          await Body?.transformToWebStream().cancel()
          return { is: 'too_large', bytes: ContentLength }
        }
        return { is: 'there', body: Body === undefined ? new Uint8Array() : await Body.transformToByteArray() }
      } catch (error) {
        if (error instanceof Error && GONE.has(error.name)) return { is: 'gone' }
        throw sdkFault(error, { doing: 'read what was dropped', action: 's3:GetObjectVersion' })
      }
    },
  }
}

const GONE: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion', 'MethodNotAllowed'])
