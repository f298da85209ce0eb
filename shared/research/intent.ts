import * as z from 'zod'
import type { PayloadKind } from './decode-payload.ts'
import { hintErrors } from './hint-errors.ts'
import { refuseBlank, refuseRange } from './payload-rules.ts'

/**
 * What a caller asks for (docs/research.md, "Intent"): never entity ids or predicates, those are what the chain finds.
 */
export const IntentSchema = z.object({
  topic: z.string(),
  /** Free keys; those nobody knows pass through unchanged. */
  hints: z.record(z.string(), z.string()).optional(),
  /** Tokens of all model calls together; 0 or absent = the default (resolve-budgets.ts). */
  budget_tokens: z.int().optional(),
  /** Refine rounds; 0 or absent = the default. */
  max_iterations: z.int().optional(),
  /** Sentences of the answer that are unsupported stay, marked; absent or false = they are taken out. */
  keep_unsupported: z.boolean().optional(),
})

export type Intent = z.infer<typeof IntentSchema>

export const intentKind: PayloadKind<Intent> = {
  schema: IntentSchema,
  validate: ({ topic, hints, budget_tokens, max_iterations }) => [
    ...refuseBlank('topic', topic),
    ...hintErrors('hints', hints),
    ...refuseRange('budget_tokens', budget_tokens),
    ...refuseRange('max_iterations', max_iterations),
  ],
}
