import * as z from 'zod'
import { principalName } from '../auth/principal.ts'
import { BULK_ACTION_NAMES, BULK_LIMITS, BULK_STATES, type Bulk, type BulkOutcome } from '../runs/bulk.ts'
import { LabelKeySchema, LabelsSchema } from '../runs/labels-schema.ts'
import { QUERY_LIMITS } from '../search-runs/query.ts'
import { queryInt, type RouteSchema } from './route-schema.ts'

const text = z.string()
const count = z.int().min(0)
const BulkIdSchema = text.regex(/^bulk_[0-9a-z]{25}$/, 'the id of a bulk')
const BulkParamsSchema = z.strictObject({ bulk_id: BulkIdSchema })
const ChangeSchema = z
  .strictObject({ set: LabelsSchema.optional(), remove: z.array(LabelKeySchema).max(20).optional() })
  .refine(({ set = {}, remove = [] }) => Object.keys(set).length + remove.length > 0, 'give set, remove or both')

export const BulkSchema = z.strictObject({
  bulk_id: text,
  action: z.enum(BULK_ACTION_NAMES),
  q: text,
  reason: text.optional(),
  labels: z
    .strictObject({ set: z.record(text, text).optional(), remove: z.array(text).readonly().optional() })
    .optional(),
  by: text,
  state: z.enum(BULK_STATES).describe('planned = nothing was done yet'),
  planned_at: text,
  start_until: text.describe('Later it is not started: the runs may be others by then'),
  count: count.describe('Runs it acts on: those that were found when it was planned'),
  more: z
    .literal(true)
    .optional()
    .describe(`There are more runs that fit, or may be: these are the newest, ${BULK_LIMITS.runs} at most`),
  started_at: text.optional(),
  looked: count.describe('Runs that have their outcome'),
  done: count,
  refused: count.describe('Runs it was not done to, each with why'),
  cancelled: z.strictObject({ by: text, at: text }).optional(),
  ended_at: text.optional(),
})

const OutcomeSchema = z.strictObject({
  at: text,
  refused: z.strictObject({ code: text, message: text }).optional().describe('Absent: it was done'),
  run_id: text.optional().describe('Of a retry: the run that takes its place'),
})

const BulkRunSchema = z.strictObject({ run_id: text, outcome: OutcomeSchema.optional() })

export function showBulk(bulk: Bulk): z.output<typeof BulkSchema> {
  const { version: _, tenant: _tenant, by, next, labels, ...rest } = bulk
  const start_until = new Date(Date.parse(bulk.planned_at) + BULK_LIMITS.planned_ms).toISOString()
  return { ...rest, by: principalName(by), start_until, looked: next, ...(labels === undefined ? {} : { labels }) }
}

export function showBulkRun({ run_id, outcome }: { readonly run_id: string; readonly outcome?: BulkOutcome }) {
  return { run_id, ...(outcome === undefined ? {} : { outcome }) }
}

/** One action on all runs that a search finds (docs/operate.md, "Many runs at once"). */
export const BULK_ROUTES = {
  'plan-bulk': {
    summary: 'Find the runs one action would be carried out on, and keep their list: nothing is done to them yet',
    body: z
      .strictObject({
        action: BulkSchema.shape.action,
        q: text.max(QUERY_LIMITS.characters).regex(/\S/, 'a search: a bulk is never of every run'),
        reason: text.min(1).max(500).optional().describe('Why: an erasure needs it, and it is kept for good'),
        labels: ChangeSchema.optional().describe('Of the action label: what is changed'),
      })
      .refine(({ action, labels }) => (action === 'label') === (labels !== undefined), {
        path: ['labels'],
        message: 'give labels with the action label, and with no other',
      })
      .refine(({ action, reason }) => action !== 'erase' || reason !== undefined, {
        path: ['reason'],
        message: 'give the reason of an erasure',
      }),
    status: 201,
    answer: z.strictObject({
      bulk: BulkSchema,
      first: z
        .array(z.strictObject({ run_id: text, dag_name: text, state: text, created_at: text, starter: text }))
        .describe('The newest of the runs, 20 at most'),
    }),
  },
  'list-bulks': {
    summary: 'Bulks that were planned, newest first',
    query: z.strictObject({ limit: queryInt(1, 100, 20), cursor: BulkIdSchema.optional() }),
    answer: z.strictObject({ bulks: z.array(BulkSchema), next_cursor: text.nullable() }),
  },
  'get-bulk': {
    summary: 'How far a bulk is, and what became of each of its runs',
    params: BulkParamsSchema,
    query: z.strictObject({
      limit: queryInt(1, 200, 100),
      cursor: text.regex(/^\d{1,9}$/, 'a next_cursor').optional(),
    }),
    answer: z.strictObject({ bulk: BulkSchema, runs: z.array(BulkRunSchema), next_cursor: text.nullable() }),
  },
  'change-bulk': {
    summary: 'Start a bulk that was planned, or cancel one: what was done by then stays done',
    params: BulkParamsSchema,
    body: z.strictObject({ do: z.enum(['start', 'cancel']) }),
    status: 202,
    answer: z.strictObject({ bulk: BulkSchema }),
  },
} as const satisfies Record<string, RouteSchema>
