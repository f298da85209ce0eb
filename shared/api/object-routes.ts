import * as z from 'zod'
import { MOST_UPLOAD_BYTES } from '../ports/objects.ts'
import { BYTES, type RouteSchema } from './route-schema.ts'

const text = z.string()
const sha256 = text.regex(/^[0-9a-f]{64}$/, 'a sha256 is 64 hex digits in small letters')

/** Routes of bodies: what entities name by `objectstore_ref`. */
export const OBJECT_ROUTES = {
  'put-object': {
    summary: 'Store a body by its content: the same again is the same ref',
    body: BYTES,
    body_type: '*/*',
    answer: z.strictObject({ ref: text, sha256: text, size: z.int().min(1) }),
  },
  'upload-object': {
    summary: 'Where to send a body that is too large for a request: its sha256 and size are checked there',
    body: z.strictObject({ sha256, size: z.int().min(1).max(MOST_UPLOAD_BYTES) }),
    answer: z.strictObject({
      ref: text.describe('Once the body is there'),
      url: text.describe('Of another host, or a path of this API'),
      method: z.literal('PUT'),
      headers: z.record(text, text).describe('To be sent exactly as they are'),
      expires_at: text,
    }),
  },
  'get-object': {
    summary: 'A body by its sha256, the end of its ref',
    params: z.strictObject({ sha256 }),
    answer: text,
    media_type: '*/*',
  },
} as const satisfies Record<string, RouteSchema>
