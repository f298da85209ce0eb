/** From the first moment on, up to but without the last; ISO 8601 UTC. */
export interface TimeRange {
  readonly from: string
  readonly to: string
}

/**
 * The stretch of time a text names, seen from `now`: `today`, `yesterday`, `last 3 hours` (also `past`, `previous`,
 * `last_24h`, `last 7d`), `last week`, `this month`. Days, weeks (from Monday), months and years are those of the UTC
 * calendar; `last N ..` ends now. The first pattern of the list that matches decides.
 */
export function timeRange(text: string, now: Date): TimeRange | undefined {
  const plain = text.toLowerCase().replaceAll('_', ' ')
  const day = startOf('day', now)
  if (/\btoday\b/.test(plain)) return range(day, now)
  if (/\byesterday\b/.test(plain)) return range(shift('day', day, -1), day)
  return rolling(plain, now) ?? calendar(plain, now)
}

type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

const ROLLING =
  /\b(?:last|past|previous) {0,3}(\d{1,4}) {0,3}(minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|w|months?|years?)\b/
const CALENDAR = /\b(this|last|previous) {1,3}(week|month|year)\b/
/** What timeRange() looks for, for texts without `_`. */
export const TIME_WORDS = new RegExp(`\\b(?:today|yesterday)\\b|${ROLLING.source}|${CALENDAR.source}`, 'gi')

function rolling(plain: string, now: Date): TimeRange | undefined {
  const [, count, word = ''] = ROLLING.exec(plain) ?? []
  if (count === undefined || Number(count) === 0) return undefined
  const from = shift(unitOf(word), now, -Number(count))
  // A thousand years back, Date still counts; before year 0 nobody means it.
  return from.getUTCFullYear() < 0 ? undefined : range(from, now)
}

function unitOf(word: string): Unit {
  const letters: Readonly<Record<string, Unit>> = { h: 'hour', d: 'day', w: 'week' }
  const short = letters[word]
  if (short !== undefined) return short
  if (word.startsWith('min')) return 'minute'
  if (word.startsWith('h')) return 'hour'
  return word.replace(/s$/, '') as Unit
}

function calendar(plain: string, now: Date): TimeRange | undefined {
  const [, which, word] = CALENDAR.exec(plain) ?? []
  if (which === undefined) return undefined
  const unit = word as Unit
  const start = startOf(unit, now)
  return which === 'this' ? range(start, now) : range(shift(unit, start, -1), start)
}

function startOf(unit: Unit, at: Date): Date {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  if (unit === 'year') return new Date(Date.UTC(year, 0, 1))
  if (unit === 'month') return new Date(Date.UTC(year, month, 1))
  // Monday is the first day of a week (ISO 8601).
  const back = unit === 'week' ? (at.getUTCDay() + 6) % 7 : 0
  return new Date(Date.UTC(year, month, day - back))
}

const MILLISECONDS: Readonly<Partial<Record<Unit, number>>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
}

function shift(unit: Unit, at: Date, count: number): Date {
  const fixed = MILLISECONDS[unit]
  if (fixed !== undefined) return new Date(at.getTime() + count * fixed)
  const months = unit === 'year' ? count * 12 : count
  const moved = new Date(at)
  moved.setUTCDate(1)
  moved.setUTCMonth(moved.getUTCMonth() + months)
  // The 31st of a shorter month is its last day.
  const last = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate()
  moved.setUTCDate(Math.min(at.getUTCDate(), last))
  return moved
}

function range(from: Date, to: Date): TimeRange {
  return { from: from.toISOString(), to: to.toISOString() }
}
