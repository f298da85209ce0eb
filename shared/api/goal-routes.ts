import * as z from 'zod'
import { FINAL_STATUSES } from '../goals/decision-table.ts'
import { RUN_STATES, SHOWN_STATES } from '../runs/head.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { MADE_RUN, RUN_VALUES } from './route-schema-parts.ts'

const text = z.string()
const count = z.int().min(0)
const measured = z.union([z.number(), text]).nullable()

const PivotRunBodySchema = z.strictObject({
  inputs: RUN_VALUES.inputs.describe('Other values of run inputs; the goal contract stays as it was frozen'),
  context: RUN_VALUES.context,
  feedback: text.min(1).max(3_000).optional().describe('What the next attempt is told besides the suggestions'),
})

/** The body of POST .../pivot, parsed. */
export type PivotRunBody = z.output<typeof PivotRunBodySchema>

const SourceSchema = z.strictObject({
  block: text.optional(),
  attempt: count.optional(),
  seq: count.optional(),
  line: count.optional(),
  bytes: count.optional(),
  sha256: text.optional(),
})

const AttemptSchema = z.strictObject({
  attemptNumber: count,
  run_id: text,
  at: text,
  status: z.enum(FINAL_STATUSES),
  metCount: count,
  totalCount: count,
})

const CriterionSchema = z.strictObject({
  id: text.nullable(),
  kind: text.nullable(),
  status: z.enum(['MET', 'NOT_MET', 'BLOCKED', 'UNKNOWN', 'PENDING']).describe('PENDING: not judged yet'),
  actual: measured,
  target: measured,
  message: text,
  source: SourceSchema.nullable().describe('The block, attempt and event that supplied it'),
})

const GoalSchema = z.strictObject({
  run_id: text,
  state: z.enum([...RUN_STATES, ...SHOWN_STATES]),
  goal_text: text.nullable().describe('null: there is no goal contract'),
  contract_hash: text.nullable().describe('sha256 of the contract as it was frozen at the start'),
  contract_from: z.enum(['request', 'dag']).nullable(),
  criteriaCount: count,
  metCount: count,
  attemptNumber: count.describe('Of this run among the attempts of its lineage, from 1'),
  maxAttempts: count,
  criteria: z.array(CriterionSchema).readonly(),
  trust: z
    .strictObject({ score: z.number().nullable(), passed: z.boolean(), band: text.nullable() })
    .nullable()
    .describe('null, as `quality`, `row` and `pivot`: not judged yet'),
  quality: z
    .strictObject({
      score: z.number(),
      violations: z
        .array(z.strictObject({ code: text, penalty: z.number(), message: text, source: SourceSchema.optional() }))
        .readonly(),
    })
    .nullable(),
  row: text.nullable().describe('The row of the decision table: `PASS x NOT_MET`'),
  final_status: z.enum(FINAL_STATUSES).nullable().describe('How the run ended; null until it has'),
  warnings: z.array(z.strictObject({ code: text, message: text, severity: text })).readonly(),
  pivot: z
    .strictObject({
      mode: z.enum(['manual', 'auto']).describe('Who starts the next attempt: a person, or the run itself'),
      shouldPivot: z.boolean(),
      attemptNumber: count,
      maxAttempts: count,
      suggestions: z.array(text).readonly(),
      unachievable: z.array(text).readonly(),
      next_run: text.optional().describe('The run that tries again'),
    })
    .nullable(),
  lastGoalAttempt: AttemptSchema.nullable().describe('Of the lineage: the newest that was judged'),
  attempts: z.array(AttemptSchema).readonly().describe('Of the lineage: those that did not reach the goal'),
})
export type GoalAnswer = z.output<typeof GoalSchema>

/** Routes of a run's goal. */
export const GOAL_ROUTES = {
  'get-goal': {
    summary: 'How far a run is with its goal: criteria, gates, attempts, and what the next attempt should change',
    params: RunParamsSchema,
    answer: GoalSchema,
  },
  'pivot-run': {
    summary: 'Start the next attempt at the goal of a run that ended partial: one a run, however often it is asked for',
    params: RunParamsSchema,
    body: PivotRunBodySchema,
    status: 201,
    answer: z.strictObject({
      ...MADE_RUN,
      pivots: text.describe('The run whose goal it tries again'),
      queued: z.literal(true).optional().describe('It waits for a place among the active runs'),
      links: z.record(text, text),
    }),
  },
} as const satisfies Record<string, RouteSchema>
