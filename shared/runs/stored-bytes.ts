/**
 * How many bytes of bodies a tenant stored, by week (docs/adr/0068): what of them is not kept any more drops out with its
 * week. A count that is sent again counts again, on the careful side.
 */
export interface StoredBytes {
  /** Adds to a week. `ttl`: when its count may be forgotten, in seconds. */
  countStored(
    tenant: string,
    stored: { readonly week: string; readonly bytes: number; readonly ttl: number },
  ): Promise<void>
  /** Of that week and every later one. */
  storedSince(tenant: string, week: string): Promise<number>
}

const DAY_MS = 86_400_000

/** The Monday (UTC) of a moment's week: `2026-11-23`. */
export function weekOf(now: number): string {
  const day = Math.floor(now / DAY_MS)
  // 1970 began on a Thursday.
  const monday = day - ((day + 3) % 7)
  return new Date(monday * DAY_MS).toISOString().slice(0, 10)
}

/** The first week of which a body may still be there that is kept for so many days. */
export function oldestWeek(now: number, kept_days: number): string {
  return weekOf(Math.max(0, now - kept_days * DAY_MS))
}

/** When nothing of a week is there any more, in seconds. */
export function weekEnds(week: string, kept_days: number): number {
  return Math.floor((Date.parse(week) + (7 + kept_days) * DAY_MS) / 1_000)
}
