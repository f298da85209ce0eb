import { createHash, createHmac } from 'node:crypto'
import { HeadObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { objectKey, type Uploads } from '../../shared/ports/objects.ts'
import { type Core, requiredVariable } from './core.ts'
import { CLIENT_OPTIONS } from './sdk.ts'

const EXPIRES_SEC = 900

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
async function uploadTarget(client: S3Client, Bucket: string, Key: string): Promise<UploadTarget> {
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

/** A request to S3 that somebody else will make. */
interface PresignedPut {
  readonly protocol: string
  readonly host: string
  /** As it goes over the wire: encoded. */
  readonly path: string
  /** Names in small letters, `host` left out; whoever sends the request must send exactly these. */
  readonly headers: Readonly<Record<string, string>>
  readonly region: string
  readonly expires_sec: number
  readonly now: Date
  readonly credentials: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string | undefined
  }
}

/** The URL with a signature in its query (AWS Signature Version 4, S3's unsigned payload). */
export function presignUrl(method: 'PUT' | 'GET', asked: PresignedPut): string {
  const { protocol, host, path, credentials, region, now } = asked
  const headers: Readonly<Record<string, string>> = { ...asked.headers, host }
  const names = Object.keys(headers).toSorted()
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const { sessionToken } = credentials
  const query = queryOf({
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${credentials.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(asked.expires_sec),
    ...(sessionToken === undefined ? {} : { 'X-Amz-Security-Token': sessionToken }),
    'X-Amz-SignedHeaders': names.join(';'),
  })
  const lines = names.map((name) => `${name}:${headers[name]?.trim()}\n`).join('')
  const canonical = [method, path, query, lines, names.join(';'), 'UNSIGNED-PAYLOAD'].join('\n')
  const hash = createHash('sha256').update(canonical).digest('hex')
  const signature = hmac(keyOf(credentials.secretAccessKey, scope), [ALGORITHM, time, scope, hash].join('\n'))
  return `${protocol}//${host}${path}?${query}&X-Amz-Signature=${signature.toString('hex')}`
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** The names above are in order. */
function queryOf(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encoded(value)}`)
    .join('&')
}

/** AWS encodes what encodeURIComponent leaves. */
function encoded(text: string): string {
  const more = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, more)
}

function keyOf(secret: string, scope: string): Buffer {
  return scope.split('/').reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
