/**
 * How long a server asks to be left alone, in milliseconds: `retry-after-ms`, or Retry-After in seconds or as a date,
 * which is read against the server's own clock when it tells it. Undefined when nothing usable is said.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = amount(headers.get('retry-after-ms'))
  if (exact !== undefined) return positive(exact)
  const text = headers.get('retry-after')
  const seconds = amount(text)
  if (seconds !== undefined) return positive(seconds * 1_000)
  const at = date(text)
  return at === undefined ? undefined : positive(at - (date(headers.get('date')) ?? now))
}

function amount(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,9}(\.\d{1,6})?\s*$/.test(text) ? Number(text) : undefined
}

/** HTTP dates name their zone, GMT; Date.parse alone would take "7" for a year. */
function date(text: string | null): number | undefined {
  const at = text !== null && /GMT\s*$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

function positive(ms: number): number | undefined {
  return ms > 0 ? Math.ceil(ms) : undefined
}
