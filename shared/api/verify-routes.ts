import * as z from 'zod'
import { RecordingSchema } from '../providers/recording.ts'
import { ErasureSchema } from './erasure-routes.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
const count = z.int().min(0)

const CheckSchema = z.strictObject({
  n: count.describe('0 is the hash chain; the others are the invariants of docs/invariants.md'),
  title: text,
  ok: z.boolean(),
  problems: z.array(text).describe('At most 20'),
  left_out: text.optional().describe('Why it could not be asked; it is neither right nor wrong then'),
})

export const VERIFY_RUN = {
  summary: 'Whether everything stored of a run still fits together: its hash chain and its invariants',
  params: RunParamsSchema,
  answer: z.strictObject({
    run_id: text,
    ok: z.boolean(),
    seq: count.describe('The newest event that was looked at'),
    seal: z
      .strictObject({ seq: count, hash: text, matches: z.boolean() })
      .nullable()
      .describe('The closed part of the hash chain, and whether the stored events make it'),
    anchor: z
      .strictObject({
        seq: count,
        hash: text,
        events: count,
        key: text,
        version_id: text,
        written_at: text,
        locked_until: text.optional(),
      })
      .nullable()
      .describe('The hash as it was written where nobody can change it; null: not anchored, check 41 says why'),
    checks: z.array(CheckSchema),
    erasure: ErasureSchema.optional().describe('The run was erased: this record is all there is to check'),
  }),
} as const satisfies RouteSchema

export const RECORD_RUN = {
  summary: 'The recording of an ended run: what its provider calls were answered, for provider replay',
  params: RunParamsSchema,
  answer: z.strictObject({
    ref: z.string().describe('The recording as an object; its age restarts with each call'),
    bytes: z.int().min(0),
    calls: z.int().min(0),
    recording: RecordingSchema.optional().describe('Left out above 4 MiB: there is the object then'),
  }),
} as const satisfies RouteSchema
