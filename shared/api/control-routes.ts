import * as z from 'zod'
import { RESTART_MODES } from '../runs/head.ts'
import type { Json } from '../text/json.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
const reason = text.min(1).max(500).optional()

const DecisionSchema = z
  .strictObject({
    approval_id: text.max(100).optional(),
    block_id: text.max(64).optional(),
    decision: z
      .enum(['approve', 'reject', 'waive'])
      .describe('waive: the yes to a question about gates that failed, and only to that'),
    digest: text
      .regex(/^[0-9a-f]{64}$/, 'the 64 hex digits shown with the approval')
      .optional()
      .describe('What was shown; required to approve and to waive'),
    feedback: text
      .min(1)
      .max(3_000)
      .optional()
      .describe('Why; required to waive, and to reject where on_reject is iterate or route'),
    edits: z
      .record(
        text.max(64),
        z.custom<Json>(() => true),
      )
      .optional()
      .describe('With approve: new values of inputs the block lets be edited'),
    allow_rest: z
      .boolean()
      .optional()
      .describe(
        'With approve, of a call of a tool that has allow_rest: nobody is asked before later calls of it in this run',
      ),
    stop: z.boolean().optional().describe('With reject, of a call of a tool: its agent does nothing more'),
    iterate: z.boolean().optional().describe('With reject and on_reject: iterate; false = the block fails'),
    restart_mode: z
      .enum(RESTART_MODES)
      .optional()
      .describe('What the next run is given: results and feedback (refine, the default), or the feedback alone'),
  })
  .refine(({ approval_id, block_id }) => approval_id === undefined || block_id === undefined, {
    path: ['approval_id'],
    message: 'give approval_id or block_id, not both',
  })
  .refine(({ decision, digest }) => decision === 'reject' || digest !== undefined, {
    path: ['digest'],
    message: 'required to approve or waive: send the digest of what was shown (GET the run to see it)',
  })

/** The body of POST .../approvals, parsed. */
export type Decision = z.output<typeof DecisionSchema>

/** Who holds the starts of the tenant, and since when (shared/runs/run-store.ts). */
export const StartHoldSchema = z.strictObject({ by: text, at: text, reason: text.optional() })

/** Routes that decide, stop and cancel. */
export const CONTROL_ROUTES = {
  'decide-approval': {
    summary: 'Approve, reject or waive what a block waits for; the first valid decision wins',
    params: RunParamsSchema,
    body: DecisionSchema,
    answer: z.looseObject({
      approval: z.looseObject({ id: text, status: text }),
      run: z.looseObject({ run_id: text }),
    }),
  },
  /** Its own handler reads the request, since the signature is over the raw bytes. */
  'slack-interactions': {
    summary: 'A click or a modal of Slack, with its X-Slack-Signature; nobody else is answered but with 401',
    body: z.strictObject({ payload: text.describe('JSON as Slack sends it') }),
    body_type: 'application/x-www-form-urlencoded',
    answer: z.looseObject({}),
  },
  'stop-run': {
    summary: 'Cancel a run, or one block of it: then the run goes on without it and ends failed',
    params: RunParamsSchema,
    body: z.strictObject({ reason, block_id: text.min(1).max(64).optional() }),
    answer: z.strictObject({
      run_id: text,
      block_id: text.optional(),
      status: z.literal('cancelled'),
      stopped: z.literal(1),
    }),
  },
  'stop-all': {
    summary: 'Cancel every active run of the tenant, and hold new starts if asked to',
    body: z.strictObject({
      reason,
      hold: z.boolean().optional().describe('Refuse starts from now on, until they are released'),
    }),
    answer: z.strictObject({
      status: z.literal('cancelled'),
      stopped: z.int().min(0),
      left: z.int().min(0).describe('Runs that could not be stopped now: ask again'),
      not_stopped: z.array(z.strictObject({ run_id: text, code: text })).describe('The first 100 of them'),
      hold: StartHoldSchema.optional(),
    }),
  },
  'release-starts': {
    summary: 'Allow starts again after stop-all with hold; queued runs go on',
    body: z.strictObject({}),
    answer: z.strictObject({
      released: z.boolean().describe('false: nothing was held'),
      started: z.int().min(0).describe('Queued runs that got a place now'),
    }),
  },
} as const satisfies Record<string, RouteSchema>
