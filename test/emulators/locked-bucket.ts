import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { emulatedAws } from './aws-client.ts'

interface Version {
  readonly key: string
  readonly id: string
  readonly at: Date
  /** Absent = a mark of deletion. */
  readonly body?: Buffer
  readonly until?: Date
}

/**
 * A bucket with versions, conditional PUT and Object Lock with a default retention in compliance mode, as S3's guides have
 * them ("Conditional writes", "Object Lock", "Deleting object versions"): the emulator of S3 we use knows none of the three.
 * It shows what clients send and what follows from those rules; that AWS keeps them is AWS's word.
 */
export interface LockedBucket {
  readonly bucket: string
  readonly config: S3ClientConfig
  /** Of every request: `PUT anchors/main/run/4 412`. */
  readonly answered: readonly string[]
  /** The next requests of this method are done, and then not answered. */
  loseAnswers(method: string, times: number): void
  close(): Promise<void>
}

export interface LockedBucketOptions {
  readonly bucket?: string
  readonly days?: number
  readonly mode?: 'COMPLIANCE' | 'GOVERNANCE'
  /** An S3 that holds every other bucket. */
  readonly behind?: string
}

export async function startLockedBucket(options: LockedBucketOptions = {}): Promise<LockedBucket> {
  const { bucket = 'sluice-anchors', days = 365, mode = 'COMPLIANCE', behind } = options
  const versions: Version[] = []
  const answered: string[] = []
  const lost = new Map<string, number>()
  const act = (request: IncomingMessage, body: Buffer): Answer => {
    const { searchParams } = new URL(request.url ?? '/', 'http://s3')
    const key = keyOf(request, bucket)
    const of = versions.filter((version) => version.key === key)
    if (searchParams.has('versions')) return listing(bucket, versions, searchParams.get('prefix') ?? '')
    const named = searchParams.get('versionId')
    if (request.method === 'PUT') return put({ versions, of, key, days }, request, body)
    if (request.method === 'GET') return read(of.find(({ id }) => id === named) ?? of.at(-1), mode)
    if (named === null) {
      versions.push({ key, id: randomUUID(), at: new Date() })
      return { status: 204, headers: { 'x-amz-delete-marker': 'true' } }
    }
    return remove(
      versions,
      of.find(({ id }) => id === named),
    )
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (!(request.url ?? '').startsWith(`/${bucket}`)) return passOn(behind ?? '', request, body, response)
    const { status = 200, headers = {}, text = '' } = act(request, body)
    const method = request.method ?? ''
    answered.push(`${method} ${keyOf(request, bucket)} ${status}`)
    const left = lost.get(method) ?? 0
    if (left > 0) {
      lost.set(method, left - 1)
      return void request.socket.destroy()
    }
    response.writeHead(status, headers).end(text)
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    bucket,
    config: { ...emulatedAws(`http://127.0.0.1:${port}`), forcePathStyle: true },
    answered,
    loseAnswers: (method, times) => void lost.set(method, times),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function keyOf({ url }: IncomingMessage, bucket: string): string {
  return decodeURIComponent(new URL(url ?? '/', 'http://s3').pathname.slice(bucket.length + 2))
}

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
}

interface Putting {
  readonly versions: Version[]
  readonly of: readonly Version[]
  readonly key: string
  readonly days: number
}

function put({ versions, of, key, days }: Putting, { headers }: IncomingMessage, body: Buffer): Answer {
  // Under a mark of deletion the name is free again.
  if (headers['if-none-match'] === '*' && of.at(-1)?.body !== undefined) return refusal(412, 'PreconditionFailed')
  const sum = createHash('sha256').update(body).digest('base64')
  // A bucket with Object Lock takes nothing without a checksum.
  if (headers['x-amz-checksum-sha256'] !== sum) return refusal(400, 'BadDigest')
  const at = new Date()
  const id = randomUUID()
  versions.push({ key, id, at, body, until: new Date(at.getTime() + days * 86_400_000) })
  return { headers: { 'x-amz-version-id': id } }
}

function read(version: Version | undefined, mode: string): Answer {
  if (version?.body === undefined) return refusal(404, 'NoSuchKey')
  const { id, body, until, at } = version
  const lock = { 'x-amz-object-lock-mode': mode, 'x-amz-object-lock-retain-until-date': until?.toISOString() ?? '' }
  return { headers: { ...lock, 'x-amz-version-id': id, 'last-modified': at.toUTCString() }, text: body.toString() }
}

function remove(versions: Version[], version: Version | undefined): Answer {
  if (version === undefined) return refusal(404, 'NoSuchVersion')
  if (version.until !== undefined && version.until > new Date()) return refusal(403, 'AccessDenied')
  versions.splice(versions.indexOf(version), 1)
  return { status: 204 }
}

/** The newest of a name first. */
function listing(bucket: string, versions: readonly Version[], prefix: string): Answer {
  const entries = versions
    .filter(({ key }) => key.startsWith(prefix))
    .toReversed()
    .map(({ key, id, at, body }) => {
      const kind = body === undefined ? 'DeleteMarker' : 'Version'
      const isLatest = versions.findLast((version) => version.key === key)?.id === id
      return `<${kind}><Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>${isLatest}</IsLatest><LastModified>${at.toISOString()}</LastModified></${kind}>`
    })
  const text = `<?xml version="1.0"?><ListVersionsResult><Name>${bucket}</Name><IsTruncated>false</IsTruncated>${entries.join('')}</ListVersionsResult>`
  return { headers: { 'content-type': 'application/xml' }, text }
}

function refusal(status: number, code: string): Answer {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, text }
}

export function passOn(
  behind: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void {
  const asked = send(new URL(url ?? '/', behind), { method: method ?? 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  asked.on('error', () => response.destroy())
  asked.end(body)
}
