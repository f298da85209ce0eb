import * as z from 'zod'
import { canonicalJson, sha256 } from '../canonical.ts'
import { IntentSchema } from './intent.ts'
import type { Question } from './question-schema.ts'
import { resolveBudgets } from './resolve-budgets.ts'

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
})

export type AskedIntent = z.infer<typeof AskedIntentSchema>

/** The object and its hash: the same question under the same bounds is the same bytes. */
export function askedIntent(
  { topic, hints, budget_tokens, max_iterations, keep_unsupported }: Question,
  parent_loop?: string,
): { readonly asked: AskedIntent; readonly text: string; readonly hash: string } {
  const asked: AskedIntent = {
    intent: {
      topic,
      ...(Object.keys(hints ?? {}).length === 0 ? {} : { hints: { ...hints } }),
      ...resolveBudgets({ budget_tokens: budget_tokens ?? 0, max_iterations: max_iterations ?? 0 }),
      ...(keep_unsupported === true ? { keep_unsupported } : {}),
    },
    ...(parent_loop === undefined ? {} : { parent_loop }),
  }
  const text = canonicalJson(asked)
  return { asked, text, hash: sha256(text) }
}
