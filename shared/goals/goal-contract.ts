import * as z from 'zod'
import type { AcceptanceCriterion } from './criteria/criterion-kind.ts'
import { criterionKind } from './criteria/registry.ts'

/** Attempts a goal has where its contract does not say. */
export const DEFAULT_MAX_ATTEMPTS = 3

/** What is wanted of a run, as evaluated: versions and defaults filled in. It never changes while the run lives. */
export interface GoalContract {
  readonly version: 1
  readonly goal_text: string
  /** Told to people; it never changes a result. */
  readonly goal_type?: string | undefined
  readonly max_goal_attempts: number
  readonly acceptance_criteria: readonly AcceptanceCriterion[]
}

/** Everything but what is in the criteria, each of which its kind reads. */
export const ContractHeadSchema = z.strictObject({
  version: z.literal(1).default(1),
  goal_text: z.string().regex(/\S/, 'it must not be blank').max(10_000),
  goal_type: z.string().regex(/\S/, 'it must not be blank').max(100).optional(),
  max_goal_attempts: z.int().min(1).default(DEFAULT_MAX_ATTEMPTS),
  acceptance_criteria: z.array(z.unknown()).min(1),
})

/** A value that contractProblems() finds nothing wrong with, with its defaults. */
export function withDefaults(value: unknown): GoalContract {
  const { acceptance_criteria, ...head } = ContractHeadSchema.parse(value)
  return { ...head, acceptance_criteria: acceptance_criteria.map(criterionWithDefaults) }
}

function criterionWithDefaults(value: unknown): AcceptanceCriterion {
  const { kind } = value as AcceptanceCriterion
  // The schema of every kind has `id` and `kind`; its other members are JSON.
  return criterionKind(kind)?.schema.parse(value) as AcceptanceCriterion
}
