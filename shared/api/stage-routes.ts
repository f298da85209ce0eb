import * as z from 'zod'
import { MOST_UPLOAD_BYTES } from '../ports/objects.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
const count = z.int().min(0)
const sha256 = text.regex(/^[0-9a-f]{64}$/, 'a sha256 is 64 hex digits in small letters')

/** What a copy of a stage is made of, beside the bodies its records name. */
export const COPIED = ['run', 'graph', 'triggers', 'spending'] as const
export type Copied = (typeof COPIED)[number]

/** What a copy of a stage does not have, and why (docs/operate.md, "A copy of a stage"). */
export const NOT_COPIED = [
  'runs that have not ended: their executions do not move',
  'results kept for other runs, and the index of search: both are made anew',
  'tokens, keys and secrets, and what a stage counts of requests, streams and places',
  'webhooks that were given up, events of outside that wait, and starts that triggers owe',
  'runs that were erased, the records of their erasures, and holds: they are of the stage where somebody said so',
  'settings, documents and code: they are the project, and are deployed',
] as const

/** Routes of `sluice stage export` and `sluice stage import`. */
export const STAGE_ROUTES = {
  'export-stage': {
    summary:
      'Records of the tenant as they are stored, a page at a time: of an ended run, the graph, triggers, spending; or a body',
    query: z
      .strictObject({
        what: z.enum([...COPIED, 'body']),
        run_id: RunParamsSchema.shape.run_id.optional().describe('Of `run`'),
        sha256: sha256.optional().describe('Of `body`: the end of its ref'),
        after: text.max(2_000).optional().describe('The `next` of the page before'),
      })
      .refine(({ what, run_id }) => (what === 'run') === (run_id !== undefined), {
        path: ['run_id'],
        message: 'run_id goes with what=run, and only with it',
      })
      .refine((query) => (query.what === 'body') === (query.sha256 !== undefined), {
        path: ['sha256'],
        message: 'sha256 goes with what=body, and only with it',
      }),
    answer: z.strictObject({
      tenant: text.describe('Whose records these are: a copy is taken by the same tenant alone'),
      lines: z.array(z.unknown()).describe('Objects of one member, which says what it is; of a body {base64}'),
      next: text.nullable().describe('null: there is no more'),
    }),
  },
  'import-stage': {
    summary:
      'Take records of a copy that were uploaded as objects; nothing that is there is changed. Of `body`: where to send bodies',
    body: z.discriminatedUnion('what', [
      z.strictObject({
        what: z.literal('body'),
        bodies: z
          .array(z.strictObject({ sha256, size: z.int().min(0).max(MOST_UPLOAD_BYTES) }))
          .min(1)
          .max(100),
      }),
      z.strictObject({
        what: z.enum(COPIED),
        refs: z
          .array(
            text.regex(/^objstore:\/\/[^/]+\/[0-9a-f]{64}$/, 'a ref is objstore://<tenant>/<64 hex digits of sha256>'),
          )
          .min(1)
          .max(20)
          .describe('Each a copy by itself: of one run, or of a part of the rest'),
      }),
    ]),
    answer: z.strictObject({
      taken: count,
      there: count.describe('The same was there already'),
      refused: z
        .array(z.strictObject({ id: text, code: text, message: text }))
        .describe('What was not taken: another of that name is there, or it is too old to be kept. At most 100'),
      uploads: z
        .array(
          z.strictObject({
            sha256,
            url: text.describe('Of another host, or a path of this API'),
            method: z.literal('PUT'),
            headers: z.record(text, text).describe('To be sent exactly as they are'),
            expires_at: text,
          }),
        )
        .optional()
        .describe('Of `body`: an empty one is not among them, it is there already'),
    }),
  },
} as const satisfies Record<string, RouteSchema>
