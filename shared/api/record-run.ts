import * as z from 'zod'
import { RecordingSchema } from '../recording.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

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
