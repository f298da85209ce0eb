import {
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'
import { emulatedAws } from './aws-client.ts'

/** S3 by the npm package fauxqs, in memory, with one bucket. It knows no conditional PUT, no versions, no expiry. */
export interface S3Emulator {
  readonly bucket: string
  readonly config: S3ClientConfig
  /** Writes past our adapter. */
  put(key: string, body: Uint8Array): Promise<void>
  remove(key: string): Promise<void>
  /** In milliseconds since 1970, to the second. */
  lastModified(key: string): Promise<number>
  close(): Promise<void>
}

export async function startS3(bucket = 'sluice-test'): Promise<S3Emulator> {
  const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false })
  server.createBucket(bucket)
  return s3At(`http://127.0.0.1:${server.port}`, bucket, async () => {
    await server.stop()
  })
}

/** One bucket of whatever answers there. */
export function s3At(endpoint: string, bucket: string, stop: () => Promise<void>): S3Emulator {
  const config = { ...emulatedAws(endpoint), forcePathStyle: true }
  const client = new S3Client(config)
  return {
    bucket,
    config,
    async put(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }))
    },
    async remove(Key) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))
    },
    async lastModified(Key) {
      const { LastModified } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key }))
      return LastModified?.getTime() ?? 0
    },
    async close() {
      client.destroy()
      await stop()
    },
  }
}
