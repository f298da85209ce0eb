/** Why a block was left out: its own condition, or upstream blocks that did not complete. */
export function skipWords(because: readonly string[], condition: string | undefined): string {
  if (condition !== undefined) return `as its "${condition}" is not true`
  return `because of ${because.join(', ')}`
}
