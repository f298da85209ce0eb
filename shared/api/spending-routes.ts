import * as z from 'zod'
import { SPENDING_PERIODS } from '../spending/settings.ts'
import type { RouteSchema } from './route-schema.ts'

const text = z.string()

/** What a cap counts in one unit. `left` is below zero where a call used more than it had estimated. */
const amounts = z.strictObject({
  cap: z.number().describe('As the settings have it'),
  raised: z.number().describe('What people added until the period ends'),
  spent: z.number(),
  committed: z.number().describe('Spent, and what calls in flight have reserved'),
  left: z.number(),
})

export const ShownSpendingCapSchema = z.strictObject({
  name: text,
  per: z.enum(SPENDING_PERIODS),
  period: text.describe('The day or month it counts now, in UTC: 2026-11-27 or 2026-11'),
  opens_at: text.describe('When the next one begins, and the cap counts from nothing again'),
  tenant: text.optional().describe('Absent = all tenants together'),
  dag: text.optional().describe('Absent = all documents'),
  labels: z
    .record(text, text)
    .optional()
    .describe('Only runs that were started with all of these; absent = whatever theirs are'),
  reached: z.boolean().describe('Starts of runs it counts are refused'),
  usd: amounts.optional().describe('In dollars. Absent: it has no cap in dollars, or is one over other tenants, too'),
  tokens: amounts.optional(),
  raises: z.array(
    z.strictObject({ by: text, at: text, usd: z.number().optional(), tokens: z.int().optional(), reason: text }),
  ),
})
export type ShownSpendingCap = z.infer<typeof ShownSpendingCapSchema>

/** Routes about the caps of `spending`. */
export const SPENDING_ROUTES = {
  'get-spending': {
    summary: 'The caps of spending that count runs of this tenant: what is used of them, and when they open again',
    answer: z.strictObject({ caps: z.array(ShownSpendingCapSchema) }),
  },
  'raise-spending': {
    summary: 'Let a cap of spending allow more until its day or month ends; recorded with who and why',
    body: z
      .strictObject({
        cap: text.min(1).max(40).describe('Its name'),
        usd: z.number().positive().max(100_000_000).optional(),
        tokens: z.int().min(1).optional(),
        reason: text.min(1).max(500),
      })
      .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, {
        path: ['usd'],
        message: 'give usd, tokens, or both',
      }),
    answer: z.strictObject({ cap: ShownSpendingCapSchema }),
  },
} as const satisfies Record<string, RouteSchema>
