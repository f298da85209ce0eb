import { setTimeout as sleep } from 'node:timers/promises'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LockedBucket, startLockedBucket } from '../../emulators/locked-bucket.ts'

/** The third step of docs/operate.md, "Restoring", call by call, on a bucket with versions. */
let bucket: LockedBucket
let s3: S3Client
beforeAll(async () => {
  bucket = await startLockedBucket({ bucket: 'sluice-dev-objects', days: 0 })
  s3 = new S3Client(bucket.config)
})
afterAll(async () => {
  s3.destroy()
  await bucket.close()
})

const Bucket = 'sluice-dev-objects'
const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body: Key, ChecksumAlgorithm: 'SHA256' }))
const remove = (Key: string, VersionId?: string) => s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
const read = (Key: string) =>
  s3.send(new GetObjectCommand({ Bucket, Key })).then(
    ({ Body }) => Body?.transformToString(),
    () => undefined,
  )

test('objects that were deleted since the moment are back as they were, and those deleted before it stay deleted', async () => {
  for (const key of ['main/kept', 'main/later', 'main/earlier']) await put(key)
  await remove('main/earlier')
  // Moments of S3 have seconds.
  await sleep(1_100)
  const moment = new Date(Math.floor(Date.now() / 1_000) * 1_000)
  await remove('main/later')
  expect(await Promise.all(['main/kept', 'main/later', 'main/earlier'].map(read))).toEqual([
    'main/kept',
    undefined,
    undefined,
  ])

  const { DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
  const since = DeleteMarkers.filter(({ IsLatest, LastModified = new Date(0) }) => IsLatest && LastModified >= moment)
  for (const { Key = '', VersionId } of since) await remove(Key, VersionId)

  expect(await Promise.all(['main/kept', 'main/later', 'main/earlier'].map(read))).toEqual([
    'main/kept',
    'main/later',
    undefined,
  ])
})
