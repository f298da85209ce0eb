/**
 * What one check comes to. `unfit`: there was nothing to judge (missing, null, NaN, wrong type, unknown, too much);
 * `error`: it could not be judged. Neither is a pass, and neither becomes one by negation.
 */
export type Outcome = 'pass' | 'fail' | 'unfit' | 'error'

/** `not: true`: only what was judged turns round. */
export function negate(outcome: Outcome): Outcome {
  if (outcome === 'pass') return 'fail'
  return outcome === 'fail' ? 'pass' : outcome
}

/**
 * At least `wanted` of them: a pass as soon as so many pass, whatever the others are; a fail once too many fail, whatever
 * the others are; else `error` if any part is, else `unfit`. `any_of` wants 1, `all_of` all. By this rule De Morgan's laws
 * hold: not(at least k of xs) = at least (n - k + 1) of the negated xs.
 */
export function atLeast(wanted: number, outcomes: readonly Outcome[]): Outcome {
  const count = (kind: Outcome) => outcomes.filter((outcome) => outcome === kind).length
  if (count('pass') >= wanted) return 'pass'
  if (count('fail') > outcomes.length - wanted) return 'fail'
  return count('error') > 0 ? 'error' : 'unfit'
}
