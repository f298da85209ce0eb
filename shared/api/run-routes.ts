import * as z from 'zod'
import { ParentSchema, RunEventSchema } from '../runs/event.ts'
import { RUN_STATES } from '../runs/head.ts'
import { RUN_ROLES } from '../runs/role.ts'
import { SHOWN_STATES } from '../runs/shown-state.ts'
import { GET_RUN } from './get-run.ts'
import { LIST_APPROVALS } from './list-approvals.ts'
import { queryInt, type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { UnpricedSchema } from './unpriced-schema.ts'

const text = z.string()
const count = z.int().min(0)
const MAX_SEQ = 999_999_999

const RunSummarySchema = z.strictObject({
  run_id: text,
  dag_name: text,
  dag_hash: text,
  role: z.enum(RUN_ROLES),
  state: z.enum([...RUN_STATES, ...SHOWN_STATES]),
  starter: text,
  created_at: text,
  deadline_at: text,
  blocks: count,
  last_seq: count,
  pending_approvals: count,
  tokens: count,
  usd: GET_RUN.answer.shape.run.shape.usd,
  unpriced_tokens: UnpricedSchema,
  ended_at: text.nullable().describe('null: it lives, or ended before the list knew when'),
  code: text.optional().describe('Why it ended'),
  reason: text.optional(),
  parent: ParentSchema.optional().describe('The block of another run that waits for this one'),
  continues: text.optional().describe('The run whose context and artifacts this one began with'),
  retry_of: text.optional().describe('The run whose results it took over where definition and inputs were the same'),
  iterates: text.optional().describe('The run whose place it took, since somebody rejected what that one asked'),
  pivots: text.optional().describe('The run whose goal it tries again'),
  links: z.record(text, text),
})
export type RunSummary = z.output<typeof RunSummarySchema>

/** Routes that read runs and change nothing. */
export const RUN_ROUTES = {
  'list-runs': {
    summary: 'Runs, newest first',
    query: z.strictObject({
      status: RunSummarySchema.shape.state
        .optional()
        .describe('As the list shows it: `running` leaves out runs that wait only for people'),
      dag: text.min(1).max(200).optional(),
      role: z
        .enum(RUN_ROLES)
        .optional()
        .describe('`root`: started by a caller; `child`: by a block of another run; questions are among both'),
      limit: queryInt(1, 500, 50),
      cursor: text.min(1).max(500).optional(),
    }),
    answer: z.strictObject({
      runs: z.array(RunSummarySchema),
      damaged: z
        .array(z.strictObject({ run_id: text, item: z.enum(['META', 'HEAD']), seen: text, fix: text }))
        .optional()
        .describe('Runs of this page whose stored items cannot be read; the others are listed all the same'),
      next_cursor: text.nullable().describe('null ends the list; a page before that may be short'),
    }),
  },
  'list-approvals': LIST_APPROVALS,
  'get-run': GET_RUN,
  'replay-run': {
    summary: 'Events after a cursor, ascending',
    params: RunParamsSchema,
    query: z.strictObject({ since: queryInt(0, MAX_SEQ, 0), limit: queryInt(1, 1_000, 500) }),
    answer: z.strictObject({
      run_id: text,
      status: text,
      since: count,
      events: z.array(RunEventSchema),
      next_since: count,
    }),
  },
  'stream-events': {
    summary: 'Server-Sent Events: durable events after the cursor, then live ones, until the terminal event',
    params: RunParamsSchema,
    query: z.strictObject({ since: queryInt(0, MAX_SEQ, 0) }),
    answer: RunEventSchema,
    media_type: 'text/event-stream',
  },
} as const satisfies Record<string, RouteSchema>
