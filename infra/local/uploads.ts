import type { IncomingMessage } from 'node:http'
import { Fault } from '../../shared/errors.ts'
import type { Clock } from '../../shared/ports/host.ts'
import { MOST_UPLOAD_BYTES, type ObjectStore, type Uploads } from '../../shared/ports/objects.ts'
import { sha256 as hashOf } from '../../shared/text/hash.ts'
import { type Answer, readBody } from './http-exchange.ts'

const EXPIRES_MS = 900_000
const PATH = /^\/api\/objects\/upload\/([0-9a-f]{64})$/

/** The Uploads port of the local place: a path of its own server, which S3 stands for on AWS. */
export function openUploads({ now }: Pick<Clock, 'now'>): Uploads {
  return {
    open: async (_tenant, { sha256, size }) => ({
      url: `/api/objects/upload/${sha256}`,
      method: 'PUT',
      headers: { 'content-length': String(size) },
      expires_at: new Date(now() + EXPIRES_MS).toISOString(),
    }),
  }
}

/** The sha256 of an upload's path; undefined: the request is of a route. */
export function uploadHash(method: string, path: string): string | undefined {
  return method === 'PUT' ? PATH.exec(path)?.[1] : undefined
}

/** Takes a body whose path names its hash. Fault InvalidInput wrong_content, 413 body_too_large. */
export async function takeUpload(
  request: IncomingMessage,
  sha256: string,
  { objects, tenant }: { readonly objects: Pick<ObjectStore, 'put'>; readonly tenant: string },
): Promise<Answer> {
  const body = await readBody(request, MOST_UPLOAD_BYTES)
  const seen = hashOf(body)
  if (seen !== sha256) {
    const message = `Cannot store this upload: its content has sha256 ${seen}, its path names ${sha256}. Ask POST /api/objects/upload for the content you send.`
    throw new Fault('InvalidInput', 'wrong_content', message)
  }
  await objects.put(tenant, body)
  return { statusCode: 200, headers: { 'content-type': 'text/plain' }, body: '' }
}
