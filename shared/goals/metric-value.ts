/**
 * The number a metric's content begins with: an optional `=`, then sign, decimals (a leading dot too), exponent, up to
 * white space or the end. Anything else at that place is no number, whatever a lenient reader would make of it: `85%`,
 * `1,234`, `NaN`, `inf`, words, nothing.
 */
export function metricValue(
  content: string,
): { readonly ok: true; readonly value: number } | { readonly ok: false; readonly seen: string } {
  const rest = content.replace(/^\s*=?\s*/, '')
  const seen = /^\S*/.exec(rest)?.[0] ?? ''
  const value = Number(seen)
  return NUMBER.test(seen) && Number.isFinite(value) ? { ok: true, value } : { ok: false, seen: seen.slice(0, 40) }
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
