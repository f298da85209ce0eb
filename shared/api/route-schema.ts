import * as z from 'zod'

/**
 * What one route takes and answers: the same object parses the request (functions/http-handler.ts) and makes the
 * OpenAPI document, so that they cannot differ. Absent `query`/`body` = none is allowed.
 */
export interface RouteSchema {
  readonly summary: string
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Default application/json. Of any type (an asterisk twice) the body is taken as bytes. */
  readonly body_type?: string
  /** The JSON answer; of routes that stream or answer bytes, what one message or the body is. */
  readonly answer: z.ZodType
  /** The success status besides which only problems are answered; default 200. */
  readonly status?: number
  /** A second kind of success, with a status of its own. */
  readonly also?: { readonly status: number; readonly description: string; readonly answer: z.ZodType }
  /** Default application/json. */
  readonly media_type?: string
}

/** A body of any type. */
export const BYTES = z
  .instanceof(Uint8Array)
  .refine(({ byteLength }) => byteLength > 0, 'a body of one byte at least')
  .meta({ type: 'string', format: 'binary' })

/** Path parameters of every route below a run. */
export const RunParamsSchema = z.strictObject({
  run_id: z
    .string()
    .regex(/^run_[0-9a-hjkmnp-tv-z]{26}$/, 'a run id is run_ and 26 characters of 0-9 a-z without i l o u'),
})

/** A whole number in a query string: digits only, `min` to `max`, `fallback` when absent. */
export function queryInt(min: number, max: number, fallback: number) {
  const digits = (value: unknown) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value)
  return z.preprocess(digits, z.int().min(min).max(max)).default(fallback)
}

/** The body of every error answer, media type application/problem+json (RFC 9457). */
export const ProblemSchema = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.looseObject({ path: z.string(), message: z.string(), hint: z.string().optional() })).optional(),
  run_id: z.string().optional(),
  /** What a program may act on, for example who decided already, or how long to wait. */
  facts: z.record(z.string(), z.unknown()).optional(),
})
export type Problem = z.infer<typeof ProblemSchema>
