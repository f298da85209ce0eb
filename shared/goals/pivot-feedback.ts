import type { Completion } from './completion.ts'

/** More suggestions than a reader takes in, and longer ones, are cut: the evaluation has them whole. */
const MOST_SUGGESTIONS = 50

const LONGEST_SUGGESTION = 600

/** What the next attempt at a goal is told: what this one missed, what to change, and what a person says about it. */
interface PivotFeedback {
  readonly text: string
  readonly suggestions: readonly string[]
}

export function pivotFeedback({ met_count, total_count, pivot }: Completion, words?: string): PivotFeedback {
  const { attemptNumber, maxAttempts } = pivot
  const suggestions = pivot.suggestions
    .slice(0, MOST_SUGGESTIONS)
    .map((one) => one.slice(0, LONGEST_SUGGESTION).toWellFormed())
  const rest = pivot.suggestions.length - suggestions.length
  const lines = [
    `Attempt ${attemptNumber} of ${maxAttempts} did not reach the goal: ${met_count}/${total_count} criteria are met.`,
    ...suggestions.map((one) => `- ${one}`),
    ...(rest === 0 ? [] : [`- and ${rest} more`]),
    ...(words === undefined ? [] : ['A person says:', words]),
  ]
  return { text: lines.join('\n'), suggestions }
}
