import * as z from 'zod'
import { FINAL_STATUSES } from '../goals/two-gates.ts'

const text = z.string()
const count = z.int().min(0)
const final_status = z.enum(FINAL_STATUSES).optional()
/** Of the decision table: `PASS x NOT_MET`. A number in events of before there was one. */
const row = z.union([text, count])

/** How a run ended. */
export const RunEndedSchema = z.strictObject({
  code: text,
  reason: text,
  block_id: text.optional(),
  /** What the two gates made of it, and the row of their table. */
  final_status,
  row: row.optional(),
  /** The linked run that goes on from here. */
  next_run: text.optional(),
  /** Tokens, and money in millionths of a US dollar, of calls whose price was known. */
  spent: z.strictObject({ tokens: count, usd_micros: count }).optional(),
})

/** What the gates said of a run. `status`: of the goal; `ref`: the whole evaluation (shared/goals/goal-evaluation.ts). */
export const GoalEvaluatedSchema = z.strictObject({
  status: text,
  met: count,
  total: count,
  row,
  attempt: count,
  trust_passed: z.boolean().optional(),
  quality_passed: z.boolean().optional(),
  final_status,
  action: text.optional(),
  /** What did not hold, as much of it as there is room for. */
  reason: text.optional(),
  ref: text.optional(),
})
