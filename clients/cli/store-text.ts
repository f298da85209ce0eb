import { createHash } from 'node:crypto'
import { OBJECT_ROUTES } from '../../shared/api/object-routes.ts'
import { callApi, type Target } from './api.ts'
import { Refused } from './refused.ts'

/** Bytes a request may have where nobody allows more; larger texts go straight to where objects are. */
const MOST_BYTES = 1_048_576

/** Stores a text as an object and answers its ref; the same text again is the same ref. */
export async function storeText(target: Target, text: string): Promise<string> {
  const bytes = Buffer.from(text)
  if (bytes.length > MOST_BYTES) return await upload(target, bytes)
  const request = { body: text, bodySerializer: asItIs, headers: { 'content-type': 'text/plain' } }
  const answer = OBJECT_ROUTES['put-object'].answer.loose()
  return (await callApi(target, answer, (api) => api.PUT('/api/objects', request))).ref
}

function asItIs(text: string): string {
  return text
}

async function upload(target: Target, bytes: Buffer<ArrayBuffer>): Promise<string> {
  const body = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
  const answer = OBJECT_ROUTES['upload-object'].answer.loose()
  const { ref, url, method, headers } = await callApi(target, answer, (api) =>
    api.POST('/api/objects/upload', { body }),
  )
  const own = url.startsWith('/')
  const response = await fetch(own ? `${target.url}${url}` : url, {
    method,
    headers: { ...headers, ...(own && target.token !== undefined && { authorization: `Bearer ${target.token}` }) },
    body: bytes,
  })
  if (response.ok) return ref
  const detail = `The object store answered HTTP ${response.status} to an upload of ${bytes.length} bytes.`
  throw new Refused({ code: 'upload_refused', detail }, { status: response.status })
}
