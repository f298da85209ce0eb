import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { AwsCaller } from './aws-caller.ts'

export interface Unsigned {
  readonly method: string
  readonly url: string
  readonly body?: string | Uint8Array | undefined
}

/** The request to send: its headers must be there, its URL must be taken as it stands. */
export interface Signed {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export type Sign = (request: Unsigned) => Promise<Signed>

/**
 * Signs requests to API Gateway as its callers do (Signature Version 4, service execute-api). The body is part of the
 * signature, so it has to be known whole. Credentials are asked for at each request: those of a role end and are renewed.
 */
export function createSign({ credentials, region }: AwsCaller): Sign {
  // `new` of a function answers the object the function answers; its type cannot say so.
  const Sha256 = sha256 as unknown as Sha256Constructor
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: Sha256 })
  return async ({ method, url, body }) => {
    const { protocol, hostname, host, port, pathname, searchParams } = new URL(url)
    const query = queryOf(searchParams)
    const { headers } = await signer.sign({
      method,
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: pathname,
      query,
      headers: { host },
      body,
    })
    // fetch() writes Host itself, and the same.
    const { host: _host, ...others } = headers
    return { url: `${protocol}//${host}${pathname}${searchText(query)}`, headers: others }
  }
}

function queryOf(params: URLSearchParams): Record<string, string[]> {
  return Object.fromEntries([...new Set(params.keys())].map((name) => [name, params.getAll(name)]))
}

/** Spaces as %20: what is signed has no `+`, and so must what is sent. */
function searchText(query: Readonly<Record<string, readonly string[]>>): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    values.map((value) => `${strict(name)}=${strict(value)}`),
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** RFC 3986: what encodeURIComponent leaves as it is and a signature does not. */
function strict(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

type Sha256Constructor = ConstructorParameters<typeof SignatureV4>[0]['sha256']
type Bytes = string | ArrayBuffer | ArrayBufferView

/** Node's own SHA-256, with a secret HMAC. The signer calls it with `new`: a function that answers an object will do. */
function sha256(secret?: Bytes) {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  return {
    update: (data: Bytes) => void hash.update(bytesOf(data)),
    digest: () => Promise.resolve(new Uint8Array(hash.digest())),
  }
}

function bytesOf(data: Bytes): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}
