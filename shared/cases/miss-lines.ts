import { safeOneLine } from '../text/redact.ts'
import type { Miss } from './judge-case.ts'

const WIDEST = 400

/** What is not as wanted, for people: the place, what was to be, what was seen, and the lines that differ. */
export function missLines({ what, expected, seen, diff = [] }: Miss): readonly string[] {
  const head = `  ${what}`
  if (diff.length > 0) return [`${head}: - expected, + seen`, ...diff.map((line) => `    ${line}`)]
  return [head, `    expected ${safeOneLine(expected, WIDEST)}`, `    seen     ${safeOneLine(seen, WIDEST)}`]
}
