import * as z from 'zod'

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
