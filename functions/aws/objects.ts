import {
  GetObjectCommand,
  HeadObjectCommand,
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
  }
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
