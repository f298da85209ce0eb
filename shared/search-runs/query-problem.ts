/** A query that cannot be read: where, what was seen, what may stand there. */
export interface QueryProblem {
  /** Characters before the place. */
  readonly at: number
  readonly words: string
  readonly allowed: readonly string[]
}

export type Read<T> = T | { readonly problem: QueryProblem }

export function problem(
  at: number,
  words: string,
  allowed: readonly string[] = [],
): { readonly problem: QueryProblem } {
  return { problem: { at, words, allowed } }
}
