import * as z from 'zod'
import { sha256 } from '../../text/hash.ts'
import { canonicalJson } from '../../text/json.ts'
import { blankErrors, hintErrors, type PayloadKind, rangeErrors } from './codec.ts'

/**
 * What a caller asks for (docs/research.md, "Intent"): never entity ids or predicates, those are what the chain finds.
 */
export const IntentSchema = z.object({
  topic: z.string(),
  /** Free keys; those nobody knows pass through unchanged. */
  hints: z.record(z.string(), z.string()).optional(),
  /** Tokens of all model calls together; 0 or absent = the default. */
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
    ...blankErrors('topic', topic),
    ...hintErrors('hints', hints),
    ...rangeErrors('budget_tokens', budget_tokens),
    ...rangeErrors('max_iterations', max_iterations),
  ],
}

/** What the loop entity of a chain can hold of its question (shared/graph/entity.ts, ENTITY_LIMITS). */
export const ASKED_LIMITS = {
  topic_characters: 4_000,
  hints: 50,
  hint_key_characters: 100,
  hint_value_characters: 1_000,
  parent_loop_characters: 400,
  budget_tokens: 1_000_000_000,
} as const

/** The object `Meta.intent_ref` names: what a research run is pinned to. */
export const AskedIntentSchema = z.strictObject({
  /** With its bounds resolved. */
  intent: IntentSchema.required({ budget_tokens: true, max_iterations: true }),
  /** Who asked: an entity id of another loop, `<run_id>.<block_id>` of a block, or any name a caller has for it. */
  parent_loop: z.string().optional(),
  /** What a ranking by embeddings counts for this question, 0: none is asked for; absent = as the place is set. */
  embeddings_weight: z.number().min(0).max(1).optional(),
})

export type AskedIntent = z.infer<typeof AskedIntentSchema>

/** The object and its hash: the same question under the same bounds is the same bytes. */
export function pinIntent(
  { topic, hints, budget_tokens, max_iterations, keep_unsupported }: Question,
  { parent_loop, embeddings_weight }: Omit<AskedIntent, 'intent'> = {},
): { readonly asked: AskedIntent; readonly text: string; readonly hash: string } {
  const asked: AskedIntent = {
    intent: {
      topic,
      ...(Object.keys(hints ?? {}).length === 0 ? {} : { hints: { ...hints } }),
      ...resolveBudgets({ budget_tokens: budget_tokens ?? 0, max_iterations: max_iterations ?? 0 }),
      ...(keep_unsupported === true ? { keep_unsupported } : {}),
    },
    ...(parent_loop === undefined ? {} : { parent_loop }),
    ...(embeddings_weight === undefined ? {} : { embeddings_weight }),
  }
  const text = canonicalJson(asked)
  return { asked, text, hash: sha256(text) }
}

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

export const DEFAULT_BUDGET_TOKENS = 4_000
export const DEFAULT_MAX_ITERATIONS = 5

/** The bounds an intent runs under: 0 is the same as absent. */
export function resolveBudgets({ budget_tokens, max_iterations }: Pick<Intent, 'budget_tokens' | 'max_iterations'>): {
  readonly budget_tokens: number
  readonly max_iterations: number
} {
  return {
    budget_tokens: budget_tokens || DEFAULT_BUDGET_TOKENS,
    max_iterations: max_iterations || DEFAULT_MAX_ITERATIONS,
  }
}
