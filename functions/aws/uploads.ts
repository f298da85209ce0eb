import { HeadObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { objectKey, type Uploads } from '../../shared/ports/objects.ts'
import { type Core, requiredVariable } from './core.ts'
import { presignUrl } from './presign-url.ts'
import { CLIENT_OPTIONS } from './sdk.ts'

export const EXPIRES_SEC = 900

/**
 * The Uploads port on S3: a presigned PUT of exactly this key, size and sha256, made with the function's own rights.
 * S3 checks the hash of what arrives, so nothing else can ever lie there.
 */
export function openUploads({ env, clock }: Pick<Core, 'env' | 'clock'>, config: S3ClientConfig = {}): Uploads {
  const Bucket = requiredVariable(env, 'BUCKET')
  const client = new S3Client({ ...CLIENT_OPTIONS, ...config })
  return {
    async open(tenant, { sha256, size }) {
      const headers = {
        'content-length': String(size),
        'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
      }
      const now = clock.now()
      const url = presignUrl('PUT', {
        ...(await uploadTarget(client, Bucket, objectKey(tenant, sha256))),
        headers,
        region: await client.config.region(),
        expires_sec: EXPIRES_SEC,
        now: new Date(now),
        credentials: await client.config.credentials(),
      })
      return { url, method: 'PUT', headers, expires_at: new Date(now + EXPIRES_SEC * 1_000).toISOString() }
    },
  }
}

interface UploadTarget {
  readonly protocol: string
  readonly host: string
  readonly path: string
}

/** Where the client would send a request for this key: its endpoint rules know regions, partitions and emulators. */
export async function uploadTarget(client: S3Client, Bucket: string, Key: string): Promise<UploadTarget> {
  const command = new HeadObjectCommand({ Bucket, Key })
  let place: UploadTarget | undefined
  command.middlewareStack.add(
    () => async (args) => {
      // The HTTP protocol's own request, which the SDK leaves untyped here.
      const { protocol, hostname, port, path } = args.request as Readonly<Record<string, string | number | undefined>>
      const host = port === undefined ? String(hostname) : `${hostname}:${port}`
      place = { protocol: String(protocol), host, path: String(path) }
      // Nothing is sent.
      return { response: {}, output: { $metadata: {} } }
    },
    { step: 'finalizeRequest', priority: 'high', name: 'placeOnly' },
  )
  await client.send(command)
  if (place === undefined) throw new TypeError('the S3 client made no request')
  return place
}
