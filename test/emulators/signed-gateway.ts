import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Keys this account knows: access key id to its secret, and the session token that must come along. */
export interface Key {
  readonly secret: string
  readonly token?: string
  /** Refused as one whose time is over. */
  readonly expired?: true
  /** May sign, may not call. */
  readonly denied?: true
}

export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** Answers what came signed right. */
type Answer = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void

/**
 * The door of API Gateway with IAM authorization, over plain HTTP: it works out Signature Version 4 by itself, as AWS
 * writes it down (IAM User Guide, "Create a signed AWS API request"), and says no in API Gateway's words.
 */
export async function signedGateway(keys: Readonly<Record<string, Key>>, answer: Answer) {
  const clock = { ahead_ms: 0 }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const refusal = refusalOf(request, body, keys, Date.now() + clock.ahead_ms)
    if (refusal !== undefined) {
      response.writeHead(403, { 'content-type': 'application/json', 'x-amzn-errortype': refusal[0] })
      return void response.end(JSON.stringify({ message: refusal[1] }))
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://gateway')
    answer(
      { method: request.method ?? '', path: pathname, query: searchParams, headers: request.headers, body },
      response,
      request,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clock,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

type Refusal = readonly [errorType: string, message: string]

function refusalOf(
  request: IncomingMessage,
  body: Buffer,
  keys: Readonly<Record<string, Key>>,
  now: number,
): Refusal | undefined {
  const { headers } = request
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/execute-api\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const [, id = '', day = '', region = '', signed = '', signature] = form.exec(headers.authorization ?? '') ?? []
  if (signature === undefined) return ['MissingAuthenticationTokenException', 'Missing Authentication Token']
  const key = keys[id]
  if (key === undefined)
    return ['UnrecognizedClientException', 'The security token included in the request is invalid.']
  if (key.expired === true) return ['ExpiredTokenException', 'The security token included in the request is expired']
  if (key.token !== undefined && headers['x-amz-security-token'] !== key.token) {
    return ['UnrecognizedClientException', 'The security token included in the request is invalid.']
  }
  const late = clockRefusal(String(headers['x-amz-date']), day, now)
  if (late !== undefined) return late
  // Host must be signed, and every x-amz- header (the same page, "Step 1").
  const names = signed.split(';')
  const amz = Object.keys(headers).filter((name) => name.startsWith('x-amz-'))
  const owed = ['host', ...amz].every((name) => names.includes(name))
  const own = signatureOf(request, { names, body, day, region, secret: key.secret })
  if (!owed || own !== signature) {
    return [
      'InvalidSignatureException',
      `The request signature we calculated does not match the signature you provided.`,
    ]
  }
  return key.denied === true
    ? [
        'AccessDeniedException',
        'User: arn:aws:iam::123456789012:user/x is not authorized to perform: execute-api:Invoke',
      ]
    : undefined
}

function clockRefusal(date: string, day: string, now: number): Refusal | undefined {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? []
  const at = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`)
  const told = (time: number) => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')
  if (Number.isNaN(at) || !date.startsWith(day))
    return ['IncompleteSignatureException', 'Date must be that of the scope']
  if (Math.abs(now - at) <= 300_000) return undefined
  const words = at < now ? 'Signature expired:' : 'Signature not yet current:'
  return ['InvalidSignatureException', `${words} ${date} is now ${at < now ? 'earlier' : 'later'} than ${told(now)}`]
}

interface Scope {
  readonly names: readonly string[]
  readonly body: Buffer
  readonly day: string
  readonly region: string
  readonly secret: string
}

function signatureOf(
  { method, url = '/', headers }: IncomingMessage,
  { names, body, day, region, secret }: Scope,
): string {
  const [path = '/', query = ''] = url.split('?')
  const canonical = [
    method,
    path.split('/').map(encoded).join('/'),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n')
  const scope = `${day}/${region}/execute-api/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [day, region, 'execute-api', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(key, text).toString('hex')
}

/** Pairs by their encoded names, then values; a `+` on the wire is a plus. */
function canonicalQuery(query: string): string {
  if (query === '') return ''
  const pairs = query.split('&').map((pair) => {
    const [name = '', value = ''] = pair.split('=')
    return [encoded(decodeURIComponent(name)), encoded(decodeURIComponent(value))] as const
  })
  return pairs
    .map(([name, value]) => `${name}=${value}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join('&')
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
