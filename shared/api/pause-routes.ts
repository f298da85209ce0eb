import * as z from 'zod'
import { StartHoldSchema } from './control-routes.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
const reason = text.min(1).max(500).optional()

/** Who paused a run, when and why (shared/runs/pause.ts). */
export const PausedSchema = z.strictObject({
  since: text,
  by: text,
  person: text.optional(),
  reason: text.optional(),
  parent: text.optional().describe('The run above it that was paused: it goes on with that one'),
})

/** Routes that let runs, and the starts of a document, stand and go on (docs/adr/0104). */
export const PAUSE_ROUTES = {
  'pause-run': {
    summary: 'Pause a run: what is at work ends, nothing begins, and its deadlines stand still until it is resumed',
    params: RunParamsSchema,
    body: z.strictObject({ reason }),
    answer: z.strictObject({ run_id: text, state: z.literal('paused'), paused: PausedSchema }),
  },
  'resume-run': {
    summary: 'Let a paused run go on; its deadlines move on by the time it stood',
    params: RunParamsSchema,
    body: z.strictObject({ reason }),
    answer: z.strictObject({ run_id: text, stood_ms: z.int().min(0).describe('How long it stood') }),
  },
  'change-document': {
    summary: 'Pause a document, so that no run of it is started, or let it go on; runs under way are not touched',
    params: z.strictObject({ name: text.min(1).max(100) }),
    body: z.strictObject({ paused: z.boolean(), reason }),
    answer: z.strictObject({
      name: text,
      paused: StartHoldSchema.nullable().describe('null: its runs are started'),
      changed: z.boolean().describe('false: it was so already'),
    }),
  },
} as const satisfies Record<string, RouteSchema>
