import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { passOn } from './locked-bucket.ts'
import { type S3Emulator, s3At } from './s3.ts'

interface Version {
  readonly key: string
  readonly id: string
  readonly at: Date
  /** Absent = a mark of deletion. */
  readonly body?: Buffer
}

/** S3 with one bucket, in memory, that keeps versions as S3's guide has them ("Deleting object versions"); no lock, no parts, no lists but of versions. */
export interface VersionedS3 extends S3Emulator {
  /** Every version of every name, as a thief would read the bucket. */
  bodies(): readonly { readonly key: string; readonly body: Buffer }[]
  /** Of every request: `DELETE main/objects/aa/..`. */
  readonly asked: string[]
}

/** `behind`: an S3 that holds every other bucket. */
export async function startVersionedS3(bucket = 'sluice-test', behind?: string): Promise<VersionedS3> {
  const versions: Version[] = []
  const asked: string[] = []
  const server = createServer((request, response) => {
    void serve(request, response, { bucket, behind, versions, asked }).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const s3 = s3At(`http://127.0.0.1:${port}`, bucket, async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  const bodies = () => versions.flatMap(({ key, body }) => (body === undefined ? [] : [{ key, body }]))
  return { ...s3, asked, bodies }
}

interface Serving {
  readonly bucket: string
  readonly behind: string | undefined
  readonly versions: Version[]
  readonly asked: string[]
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { bucket, behind, versions, asked }: Serving,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const isOther = !/^\/([^/?]*)/.exec(request.url ?? '')?.[1]?.startsWith(bucket)
  if (behind !== undefined && isOther) return passOn(behind, request, Buffer.concat(chunks), response)
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://s3')
  const key = decodeURIComponent(pathname.slice(bucket.length + 2))
  const method = request.method ?? 'GET'
  asked.push(`${method} ${searchParams.has('versions') ? `versions of ${searchParams.get('prefix')}` : key}`)
  const {
    status = 200,
    headers = {},
    body = '',
  } = answer({
    method,
    key,
    versions,
    sent: Buffer.concat(chunks),
    named: searchParams.get('versionId') ?? undefined,
    listed: searchParams.has('versions') ? (searchParams.get('prefix') ?? '') : undefined,
    sum: request.headers['x-amz-checksum-sha256'],
  })
  response.writeHead(status, headers).end(method === 'HEAD' ? undefined : body)
}

interface Asked {
  readonly method: string
  readonly key: string
  readonly versions: Version[]
  readonly sent: Buffer
  readonly named: string | undefined
  readonly listed: string | undefined
  readonly sum: string | string[] | undefined
}

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

function answer(asked: Asked): Answer {
  const { method, versions, listed } = asked
  if (listed !== undefined) return listing(versions, listed)
  if (method === 'PUT') return put(asked)
  return method === 'DELETE' ? remove(asked) : get(asked)
}

function put({ key, versions, sent, sum }: Asked): Answer {
  if (sum !== undefined && sum !== createHash('sha256').update(sent).digest('base64')) return refusal(400, 'BadDigest')
  const id = randomUUID()
  versions.push({ key, id, at: new Date(), body: sent })
  return { headers: { 'x-amz-version-id': id } }
}

/** Of a version the version; without one, a mark of deletion is put on top. */
function remove({ key, versions, named }: Asked): Answer {
  const at = versions.findIndex((version) => version.key === key && version.id === named)
  if (named === undefined) versions.push({ key, id: randomUUID(), at: new Date() })
  else if (at >= 0) versions.splice(at, 1)
  return { status: 204 }
}

/** The version that is named, else the newest. */
function get({ key, versions, named }: Asked): Answer {
  const wanted = versions.findLast((version) => version.key === key && (named === undefined || version.id === named))
  if (wanted?.body === undefined) return refusal(404, named === undefined ? 'NoSuchKey' : 'NoSuchVersion')
  const { at, body } = wanted
  return { headers: { 'last-modified': at.toUTCString(), 'content-length': String(body.length) }, body }
}

/** The newest of a name first. */
function listing(versions: readonly Version[], prefix: string): Answer {
  const entries = versions
    .filter(({ key }) => key.startsWith(prefix))
    .toReversed()
    .map(({ key, id, at, body }) => {
      const kind = body === undefined ? 'DeleteMarker' : 'Version'
      return `<${kind}><Key>${key}</Key><VersionId>${id}</VersionId><LastModified>${at.toISOString()}</LastModified></${kind}>`
    })
  const text = `<?xml version="1.0"?><ListVersionsResult><IsTruncated>false</IsTruncated>${entries.join('')}</ListVersionsResult>`
  return { headers: { 'content-type': 'application/xml' }, body: text }
}

function refusal(status: number, code: string): Answer {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body }
}
