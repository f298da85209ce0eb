import type { Intent } from './intent.ts'

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
