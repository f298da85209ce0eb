import * as z from 'zod'
import { BYTES, type RouteSchema } from './route-schema.ts'

const text = z.string()

/** Routes of bodies: what entities name by `objectstore_ref`. */
export const OBJECT_ROUTES = {
  'put-object': {
    summary: 'Store a body by its content: the same again is the same ref',
    body: BYTES,
    body_type: '*/*',
    answer: z.strictObject({ ref: text, sha256: text, size: z.int().min(1) }),
  },
  'get-object': {
    summary: 'A body by its sha256, the end of its ref',
    params: z.strictObject({ sha256: text.regex(/^[0-9a-f]{64}$/, 'a sha256 is 64 hex digits in small letters') }),
    answer: text,
    media_type: '*/*',
  },
} as const satisfies Record<string, RouteSchema>
