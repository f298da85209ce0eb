/** Answers in the order of `all`, at most `limit` under way at once. */
export async function inTurns<T, R>(
  all: readonly T[],
  limit: number,
  work: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const answers: R[] = []
  for (let i = 0; i < all.length; i += limit) {
    answers.push(...(await Promise.all(all.slice(i, i + limit).map(work))))
  }
  return answers
}
