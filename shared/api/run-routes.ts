import * as z from 'zod'
import { DeclaredSchema } from '../auth/declared-client.ts'
import { ON_CONFLICTS } from '../dag/dag.ts'
import {
  GoalEvaluatedSchema,
  ParentSchema,
  RunEndedSchema,
  RunEventSchema,
  StoredValueSchema,
  WAITS_FOR,
  WOKEN_BY,
} from '../runs/event.ts'
import { ASKED_ABOUT, RUN_STATES, SHOWN_STATES } from '../runs/head.ts'
import { SHORT_RUN_ID } from '../runs/ids.ts'
import { RUN_ROLES } from '../runs/run-store.ts'
import { StepLogSchema } from '../steps/step-order.ts'
import { LIST_APPROVALS } from './approval-routes.ts'
import { PausedSchema } from './pause-routes.ts'
import { queryInt, type RouteSchema, RunParamsSchema } from './route-schema.ts'
import {
  AskedGatesSchema,
  CALL_QUESTION,
  RaiseSchema,
  RunChangesSchema,
  UnpricedSchema,
  VoteSchema,
} from './route-schema-parts.ts'

const text = z.string()
const count = z.int().min(0)
const refs = z.record(text, StoredValueSchema).readonly()
/** null = no price is known. */
const usd = z.number().nullable()
const unpriced_tokens = UnpricedSchema

const LabelsShownSchema = z.record(text, text)

const RunSchema = z.strictObject({
  run_id: text,
  dag_name: text,
  dag_hash: text,
  role: z.enum(RUN_ROLES),
  parent: ParentSchema.optional().describe('The block of another run that waits for this one'),
  continues: text.optional().describe('The run whose context and artifacts this one began with'),
  retry_of: text.optional().describe('The run whose results it took over where definition and inputs were the same'),
  iterates: text.optional().describe('The run whose place it took, since somebody rejected what that one asked'),
  root: text.optional().describe('The first run of its lineage, when it is a linked run'),
  retried_by: z.array(text).readonly().optional().describe('Runs that retry it, oldest first'),
  continued_by: z.array(text).readonly().optional().describe('Runs that go on from it, oldest first'),
  pivots: text.optional().describe('The run whose goal it tries again'),
  pivoted_by: text.optional().describe('The run that tries its goal again'),
  follows: text.optional().describe('The run whose end or event fired the trigger that started it'),
  next_run: text
    .optional()
    .describe('The linked run that comes after it: it was iterated, or tries its goal again by itself'),
  state: z.enum([...RUN_STATES, ...SHOWN_STATES]),
  code: text.optional(),
  reason: text.optional(),
  final_status: RunEndedSchema.shape.final_status.describe('What trust, quality and goal gates made of it'),
  row: RunEndedSchema.shape.row.describe('The row of their decision table: `PASS x NOT_MET`'),
  goal: GoalEvaluatedSchema.optional().describe('How its completion was judged; GET .../goal has all of it'),
  waiting_for: text.optional().describe('What a live run waits for, in words'),
  paused: PausedSchema.optional().describe('While somebody keeps it from going on: who, since when, and why'),
  stood_ms: z.int().min(0).optional().describe('Milliseconds it stood in pauses that are over; absent: none'),
  turn: z
    .strictObject({
      key: text.optional().describe('The expression of its document; absent: all runs of the document take turns'),
      limit: z.int().min(1).describe('Runs of the key that may go on at once'),
      on_conflict: z.enum(ON_CONFLICTS),
      running: z.array(text).readonly().describe('Runs of the key that go on'),
      place: z.int().min(1).optional().describe('Of a run whose turn has not come: its place among those that wait'),
      behind: z.array(text).readonly().optional().describe('Runs that go before it, the nearest first, 20 at the most'),
    })
    .optional()
    .describe('Where a live run stands among those of its concurrency key'),
  priority: z.int().optional().describe('Seconds by which it stands in queues as if it had been started earlier'),
  starter: text,
  labels: LabelsShownSchema.optional().describe('Absent: none'),
  changes: RunChangesSchema.optional().describe('In what it differs from a plain start of its deployed document'),
  created_at: text,
  started_at: text.optional(),
  ended_at: text.optional(),
  deadline: text,
  tokens: count,
  usd,
  unpriced_tokens,
  budget: z
    .strictObject({
      cap_tokens: count.optional(),
      cap_usd: z.number().optional(),
      committed_tokens: count,
      committed_usd: z.number(),
      spent_tokens: count,
      spent_usd: z.number(),
    })
    .describe('Caps that hold; committed is what was spent and what calls under way have reserved'),
  storage: z
    .strictObject({ stored_bytes: count, quota_bytes: count })
    .optional()
    .describe('Bodies the run has stored; absent in runs that began before they were counted'),
  last_seq: count,
})

const ErrorSchema = z.strictObject({ code: text, reason: text })

const BlockSchema = z.strictObject({
  state: text,
  attempt: count,
  max_attempts: count,
  epoch: count,
  untried: count.optional().describe('Attempts up to this one that were no try of its retry, as lost ones are'),
  started_at: text.optional(),
  ended_at: text.optional(),
  output_ref: text.optional(),
  outputs: refs.optional(),
  gates: z.array(z.looseObject({ gate: text, status: text, reason: text })).readonly(),
  error: ErrorSchema.optional(),
  due_at: text.optional(),
  progress: z
    .strictObject({ fraction: z.number(), note: text })
    .optional()
    .describe('While a step works: how far it last said it is, 0 to 1'),
  log: StepLogSchema.optional().describe(
    'What the step of its newest attempt wrote: the last lines, and the object that holds all',
  ),
  child: text.optional().describe('The child run of its newest attempt (mode dag)'),
  wait: z
    .strictObject({
      for: z.enum(WAITS_FOR),
      since: text,
      until: text,
      name: text.optional(),
      key: text.optional(),
      ended_by: z.enum(WOKEN_BY).optional(),
      ended_at: text.optional(),
    })
    .optional()
    .describe('What its newest attempt waits for, or waited for, and what ended that (mode wait)'),
  cached_from: text.optional().describe('The run whose result stands in for a dispatch'),
  because: z.array(text).readonly().optional(),
  condition: text.optional(),
  item_count: count.optional().describe('How many items a foreach block began with'),
  first_turn: count.optional().describe('Of an agent that acts: the first turn of its newest attempt, from 0'),
  agent: z
    .strictObject({
      turns: count,
      calls: count,
      waiting: count.describe('Calls that wait for a person'),
      running: count,
      refused: count.describe('By a gate, a bound or a person'),
      failed: count.describe('For another reason'),
    })
    .optional()
    .describe('Of an agent that acts: the turns and calls it has begun, and how its calls stand'),
  items: z
    .record(
      text,
      z.strictObject({
        state: text,
        attempt: count,
        error: ErrorSchema.optional(),
        waits: z.literal(true).optional(),
        tool: text.optional().describe('Of a call of an agent'),
      }),
    )
    .describe('Those of them that have started, by number; of an agent its turns (300) and their calls (302)')
    .optional(),
  tokens: count,
  usd,
  unpriced_tokens,
})

const StepSchema = z.strictObject({
  index: z.int().min(1),
  block_id: text,
  epoch: count,
  attempt: count,
  item: count.optional(),
  state: text,
  started_seq: count,
  started_at: text,
  ended_seq: count.optional(),
  ended_at: text.optional(),
  output_ref: text.optional(),
})

const ApprovalSchema = z.strictObject({
  approval_id: text,
  block_id: text,
  status: text,
  prompt: text,
  shown: z.record(text, z.unknown()).describe('The values themselves; one above 64 KiB is its {ref, sha256, bytes}'),
  shown_refs: refs,
  digest: text.describe('Send it back to approve: it binds the decision to what was shown'),
  requested_at: text,
  expires_at: text,
  approvers: z.array(text).readonly(),
  quorum: count,
  about: z.enum(ASKED_ABOUT).optional().describe('Absent: dispatch, before the work of the block'),
  changes: RunChangesSchema.optional().describe('In what the run differed from a plain start when it was asked'),
  gates: AskedGatesSchema.optional(),
  raise: RaiseSchema.optional(),
  edit: z.array(text).readonly().optional().describe('Inputs who approves may change'),
  ...CALL_QUESTION,
  on_timeout: text.optional(),
  on_reject: text.optional(),
  votes: z.array(VoteSchema).readonly().optional().describe('Who approved, where one is not enough'),
  reminded: count.optional().describe('How many reminders came'),
  escalated_to: z.array(text).readonly().optional().describe('Who may decide besides, since nobody did for long'),
  edits: z.unknown().optional().describe('Inputs as the approver changed them'),
  edits_ref: text.optional(),
  rest: z.literal(true).optional().describe('Of a call of an agent: nobody is asked before later calls of its tool'),
  stop: z.literal(true).optional().describe('Of a call of an agent: it was to do nothing more'),
  iterate: text.optional().describe('What the run that takes its place is given: refine or from_scratch'),
  decided_by: text.optional(),
  decided_at: text.optional(),
  decided_person: text.optional().describe('Who that is, where it is another name of theirs'),
  via: text.optional().describe('By what the place saw the decision come'),
  declared: DeclaredSchema.optional().describe('What the client said of itself'),
  feedback: text.optional().describe('What the decider said, at most 3,000 characters'),
  feedback_ref: text.optional(),
  waited_ms: z.number().optional(),
})

export const GET_RUN = {
  summary: 'One run: its state, blocks, steps, document and approvals, folded from its events',
  params: z.strictObject({
    run_id: text
      .regex(
        SHORT_RUN_ID,
        'a run id is run_ and 26 characters of 0-9 a-z without i l o u, or 4 and more of its first ones',
      )
      .describe('Or the beginning of one, where no other run begins so'),
  }),
  answer: z.strictObject({
    run: RunSchema,
    blocks: z.record(text, BlockSchema).readonly(),
    steps: z.array(StepSchema).readonly(),
    dag: z.looseObject({ name: text }),
    approvals: z.array(ApprovalSchema).readonly(),
    lineage: z
      .array(z.strictObject({ run_id: text, from: text, kind: text, at: text }))
      .readonly()
      .optional()
      .describe('Every run that came of the same root, oldest first'),
    links: z.record(text, text).readonly(),
  }),
} as const satisfies RouteSchema

const MAX_SEQ = 999_999_999

/** Between the events of a stream: no part of the record, without seq and without id. */
const BlockDeltaSchema = z
  .strictObject({
    type: z.literal('block:delta'),
    block_id: text,
    item: count.optional(),
    epoch: count,
    attempt: count,
    question: count.describe('Another number is another answer: a repair, or one of another provider'),
    from: count.describe(
      'Characters of the answer before `text`; more than was told so far: what lies between is lost',
    ),
    text: text.describe('What the model went on to say'),
  })
  .describe('What a model says before its answer is recorded; it comes in streams alone')
export type BlockDelta = z.output<typeof BlockDeltaSchema>

export const RunSummarySchema = z.strictObject({
  run_id: text,
  dag_name: text,
  dag_hash: text,
  role: z.enum(RUN_ROLES),
  state: z.enum([...RUN_STATES, ...SHOWN_STATES]),
  starter: text,
  labels: LabelsShownSchema.optional().describe('Absent: none'),
  created_at: text,
  deadline_at: text,
  blocks: count,
  last_seq: count,
  paused: PausedSchema.optional().describe('While somebody keeps it from going on'),
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

/** Of any page of runs. */
export const DamagedRunsSchema = z
  .array(z.strictObject({ run_id: text, item: z.enum(['META', 'HEAD']), seen: text, fix: text }))
  .optional()
  .describe('Runs of this page whose stored items cannot be read; the others are listed all the same')

/** Routes that read runs and change nothing. */
export const RUN_ROUTES = {
  'list-runs': {
    summary: 'Runs, newest first',
    query: z.strictObject({
      status: RunSummarySchema.shape.state
        .optional()
        .describe('As the list shows it: `running` leaves out runs that wait only for people'),
      dag: text.min(1).max(200).optional(),
      id: text
        .regex(SHORT_RUN_ID, '`run_`, which may be left out, and 4 to 26 characters of an id')
        .optional()
        .describe('The beginning of an id: the runs that begin so, of whatever role'),
      role: z
        .enum(RUN_ROLES)
        .optional()
        .describe('`root`: started by a caller; `child`: by a block of another run; questions are among both'),
      limit: queryInt(1, 500, 50),
      cursor: text.min(1).max(500).optional(),
    }),
    answer: z.strictObject({
      runs: z.array(RunSummarySchema),
      damaged: DamagedRunsSchema,
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
    answer: z.union([RunEventSchema, BlockDeltaSchema]),
    media_type: 'text/event-stream',
  },
} as const satisfies Record<string, RouteSchema>
