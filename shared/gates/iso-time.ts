const TIME = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Milliseconds of exactly one ISO 8601 time with its zone (`2026-03-01T12:00:00Z`); undefined = it is none. */
export function isoTime(text: string): number | undefined {
  if (text.length > 40) return undefined
  const day = TIME.exec(text)?.[1]
  if (day === undefined) return undefined
  const midnight = new Date(`${day}T00:00:00Z`)
  // The 30th of February would become the 2nd of March.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return undefined
  return Date.parse(text)
}
