import { createHash, createHmac } from 'node:crypto'

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
