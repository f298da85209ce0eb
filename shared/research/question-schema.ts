import * as z from 'zod'
import { ASKED_LIMITS } from './asked-intent.ts'

const filled = (most: number) => z.string().max(most).regex(/\S/, 'must not be blank')

/**
 * An Intent as a door takes it: its rules (docs/research.md, "Intent"), and what a loop entity has room for. Keys
 * nobody knows are ignored and null is the same as absent.
 */
export const QuestionSchema = z.object({
  topic: filled(ASKED_LIMITS.topic_characters).describe('What is asked, in words'),
  hints: z
    .record(filled(ASKED_LIMITS.hint_key_characters), filled(ASKED_LIMITS.hint_value_characters))
    .refine((hints) => Object.keys(hints).length <= ASKED_LIMITS.hints, `at most ${ASKED_LIMITS.hints} hints`)
    .nullish()
    .describe('Texts by key that narrow the search; keys nobody knows pass through'),
  budget_tokens: z
    .int()
    .min(0)
    .max(ASKED_LIMITS.budget_tokens)
    .nullish()
    .describe('Of all model calls together, and of the evidence that is kept; 0 or absent: 4000'),
  max_iterations: z.int().min(0).nullish().describe('Refine rounds; 0 or absent: 5'),
  keep_unsupported: z
    .boolean()
    .nullish()
    .describe('Keep sentences that are unsupported, each marked as that; absent: they are left out'),
})
export type Question = z.infer<typeof QuestionSchema>
