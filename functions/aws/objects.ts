import {
  DeleteObjectCommand,
  type DeleteObjectCommandInput,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import {
  hashOfObjectRef,
  hashOfOwnObjectRef,
  type ObjectFolder,
  type ObjectStore,
  objectFault,
  objectKey,
} from '../../shared/ports/objects.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { type Core, requiredVariable } from './core.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

/**
 * The ObjectStore port on S3: one object a hash, always PUT, so that its age (and so its expiry) restarts and a damaged
 * one is repaired. S3 checks the sha256 of what arrives, we check the one of what is read.
 */
export function openObjects(
  { env }: Pick<Core, 'env'>,
  config: S3ClientConfig = {},
  folder?: ObjectFolder,
): ObjectStore {
  const Bucket = requiredVariable(env, 'BUCKET')
  const client = new S3Client({ ...CLIENT_OPTIONS, ...config })
  return {
    async put(tenant, body) {
      const hash = sha256(body)
      const Key = objectKey(tenant, hash, folder)
      const ChecksumSHA256 = Buffer.from(hash, 'hex').toString('base64')
      await client.send(new PutObjectCommand({ Bucket, Key, Body: body, ChecksumSHA256 })).catch((error: unknown) => {
        throw sdkFault(error, { doing: 'store an object', action: 's3:PutObject' })
      })
      return { ref: `objstore://${tenant}/${hash}`, sha256: hash, bytes: body.byteLength }
    },
    async get(tenant, ref) {
      const hash = hashOfObjectRef(tenant, ref)
      const body = await read(client, Bucket, objectKey(tenant, hash, folder), ref)
      if (sha256(body) !== hash) throw objectFault('corrupt', ref)
      return body
    },
    async has(tenant, ref) {
      const hash = hashOfOwnObjectRef(tenant, ref)
      return hash !== undefined && (await isThere(client, Bucket, objectKey(tenant, hash, folder), ref))
    },
    async erase(tenant, ref, before) {
      const Key = objectKey(tenant, hashOfObjectRef(tenant, ref), folder)
      const there = await listVersions(client, Bucket, Key)
      if (there.some(({ put_at = 0 }) => put_at >= before)) return false
      // By its id each: what is put from now on is another version, and stays.
      for (const { VersionId } of there) await removeVersion(client, { Bucket, Key, VersionId })
      return true
    },
  }
}

interface Listed {
  readonly VersionId: string
  /** Absent = a mark of deletion. */
  readonly put_at?: number
}

/** Of a bucket with versions every one is the whole body: what was put before, and what a deletion only hides. */
async function listVersions(client: S3Client, Bucket: string, Key: string): Promise<readonly Listed[]> {
  const found: Listed[] = []
  let from: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {}
  while (from !== undefined) {
    const command: ListObjectVersionsCommand = new ListObjectVersionsCommand({ Bucket, Prefix: Key, ...from })
    const page: ListObjectVersionsCommandOutput = await client.send(command).catch((error: unknown) => {
      throw sdkFault(error, { doing: 'look for the versions of an object', action: 's3:ListBucketVersions' })
    })
    for (const { VersionId = 'null', LastModified } of page.Versions ?? []) {
      found.push({ VersionId, put_at: LastModified?.getTime() ?? 0 })
    }
    found.push(...(page.DeleteMarkers ?? []).map(({ VersionId = 'null' }) => ({ VersionId })))
    from = page.IsTruncated === true ? nextPage(page) : undefined
  }
  return found
}

function nextPage({ NextKeyMarker, NextVersionIdMarker }: ListObjectVersionsCommandOutput) {
  return {
    ...(NextKeyMarker === undefined ? {} : { KeyMarker: NextKeyMarker }),
    ...(NextVersionIdMarker === undefined ? {} : { VersionIdMarker: NextVersionIdMarker }),
  }
}

async function removeVersion(client: S3Client, version: DeleteObjectCommandInput): Promise<void> {
  await client.send(new DeleteObjectCommand(version)).catch((error: unknown) => {
    throw sdkFault(error, { doing: 'erase an object', action: 's3:DeleteObjectVersion' })
  })
}

async function isThere(client: S3Client, Bucket: string, Key: string, ref: string): Promise<boolean> {
  try {
    await client.send(new HeadObjectCommand({ Bucket, Key }))
    return true
  } catch (error) {
    if (error instanceof Error && error.name === 'NotFound') return false
    throw sdkFault(error, { doing: `look for object ${ref}`, action: 's3:GetObject' })
  }
}

async function read(client: S3Client, Bucket: string, Key: string, ref: string): Promise<Uint8Array> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
    return Body === undefined ? new Uint8Array() : await Body.transformToByteArray()
  } catch (error) {
    // Without s3:ListBucket a missing key is 403: the role has that action on the bucket for this reason.
    if (error instanceof Error && error.name === 'NoSuchKey') throw objectFault('missing', ref)
    throw sdkFault(error, { doing: `read object ${ref}`, action: 's3:GetObject' })
  }
}

/** A snapshot of some hundred MB takes seconds. */
const REQUEST_MS = 60_000

/** Where snapshots of the search index lie: objects by their hash, in a folder that is emptied within days. */
export function openSnapshots(core: Pick<Core, 'env'>, config: S3ClientConfig = {}): ObjectStore {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  return openObjects(core, { requestHandler, ...config }, 'index')
}
