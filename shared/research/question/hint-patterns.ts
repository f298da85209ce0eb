/** What a question asks to be computed over the hits; top_n is the bare `top 5`. */
export const AGGREGATIONS = ['count', 'sum', 'average', 'min', 'max', 'top_n'] as const
export type Aggregation = (typeof AGGREGATIONS)[number]

/**
 * What kind of answer a text asks for: how things are connected (and from where), what is similar, one number over
 * many. Patterns only; the first aggregation of the list that matches decides.
 */
export function answerKindHints(text: string): {
  readonly path_intent?: true
  readonly path_start_node?: string
  readonly similarity?: true
  readonly aggregation_type?: Aggregation
  readonly top_n?: number
} {
  const start = pathStart(text)
  const top = topCount(text)
  const aggregation =
    AGGREGATION_WORDS.find(([shape]) => shape.test(text))?.[1] ?? (top === undefined ? undefined : 'top_n')
  return {
    ...(start !== undefined || PATH_WORDS.test(text) ? { path_intent: true } : {}),
    ...(start === undefined ? {} : { path_start_node: start }),
    ...(SIMILAR_WORDS.test(text) ? { similarity: true } : {}),
    ...(aggregation === undefined ? {} : { aggregation_type: aggregation }),
    ...(top === undefined ? {} : { top_n: top }),
  }
}

const NAME_PATTERN =
  '("[^"]{1,100}"|[\\p{L}\\p{N}][\\p{L}\\p{N}._-]{0,60}(?: [\\p{L}\\p{N}][\\p{L}\\p{N}._-]{0,60}){0,4}?)'
const NAME_ENDS =
  '(?= (?:to|and|with|connected|linked|related|reach|reaches|in|by|within|over|last|today)\\b|[?.,;!]|$)'
const PATH_STARTS: readonly RegExp[] = [
  new RegExp(
    `\\b(?:path|paths|route|routes|way|connection|connections|link|links) (?:from|between) (?:the )?${NAME_PATTERN}${NAME_ENDS}`,
    'iu',
  ),
  new RegExp(`\\bhow (?:is|are) (?:the )?${NAME_PATTERN} (?:connected|linked|related)\\b`, 'iu'),
  new RegExp(`\\b(?:connected|linked|related|adjacent) to (?:the )?${NAME_PATTERN}${NAME_ENDS}`, 'iu'),
  new RegExp(
    `\\b(?:neighbou?rs of|reachable from|downstream of|upstream of|depends? on|starting (?:at|from)) (?:the )?${NAME_PATTERN}${NAME_ENDS}`,
    'iu',
  ),
]
const PATH_WORDS =
  /\b(?:shortest path|path from|paths? between|routes? between|route from|connected to|linked to|neighbou?rs of|reachable from|downstream of|upstream of|how (?:is|are) .{1,100} (?:connected|linked|related))\b/i
const SIMILAR_WORDS =
  /\b(?:similar to|similar|resembl(?:es?|ing)|comparable (?:to|with)|same kind (?:as|of)|alike|look(?:s|ing)? like|most like)\b/i

function pathStart(text: string): string | undefined {
  const found = PATH_STARTS.map((shape) => shape.exec(text)?.[1]).find((name) => name !== undefined)
  return found?.replace(/^"|"$/g, '')
}

const AGGREGATION_WORDS: readonly (readonly [RegExp, Aggregation])[] = [
  [/\b(?:how many|count of|number of|count)\b/i, 'count'],
  [/\b(?:sum of|total (?:of|number)|in total|sum|total)\b/i, 'sum'],
  [/\b(?:average|mean|avg)\b/i, 'average'],
  [/\b(?:minimum|min|lowest|smallest|fewest|least|shortest distance)\b/i, 'min'],
  [/\b(?:maximum|max|highest|largest|biggest|greatest)\b/i, 'max'],
]

/** `top 5`, `the 5 largest`; at most 1,000. */
function topCount(text: string): number | undefined {
  const [, before, after] =
    /\btop[ -]?(\d{1,4})\b|\b(\d{1,4}) (?:largest|biggest|highest|greatest|smallest|lowest|best|most|least)\b/i.exec(
      text,
    ) ?? []
  const count = Number(before ?? after)
  return count >= 1 && count <= 1_000 ? count : undefined
}

/** From the first moment on, up to but without the last; ISO 8601 UTC. */
interface TimeRange {
  readonly from: string
  readonly to: string
}

/**
 * The stretch of time a text names, seen from `now`: `today`, `yesterday`, `last 3 hours` (also `past`, `previous`,
 * `last_24h`, `last 7d`), `last week`, `this month`. Days, weeks (from Monday), months and years are those of the UTC
 * calendar; `last N ..` ends now. The first pattern of the list that matches decides.
 */
export function readTimeRange(text: string, now: Date): TimeRange | undefined {
  const plain = text.toLowerCase().replaceAll('_', ' ')
  const day = startOf('day', now)
  if (/\btoday\b/.test(plain)) return asRange(day, now)
  if (/\byesterday\b/.test(plain)) return asRange(moveBy('day', day, -1), day)
  return rolling(plain, now) ?? calendar(plain, now)
}

type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

const ROLLING =
  /\b(?:last|past|previous) {0,3}(\d{1,4}) {0,3}(minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|w|months?|years?)\b/
const CALENDAR = /\b(this|last|previous) {1,3}(week|month|year)\b/
/** What readTimeRange() looks for, for texts without `_`. */
const TIME_PATTERN = new RegExp(`\\b(?:today|yesterday)\\b|${ROLLING.source}|${CALENDAR.source}`, 'gi')

function rolling(plain: string, now: Date): TimeRange | undefined {
  const [, count, word = ''] = ROLLING.exec(plain) ?? []
  if (count === undefined || Number(count) === 0) return undefined
  const from = moveBy(unitOf(word), now, -Number(count))
  // A thousand years back, Date still counts; before year 0 nobody means it.
  return from.getUTCFullYear() < 0 ? undefined : asRange(from, now)
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
  return which === 'this' ? asRange(start, now) : asRange(moveBy(unit, start, -1), start)
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

function moveBy(unit: Unit, at: Date, count: number): Date {
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

function asRange(from: Date, to: Date): TimeRange {
  return { from: from.toISOString(), to: to.toISOString() }
}

/** A box of degrees; `west` may be larger than `east`: then it crosses the 180th meridian. */
interface GeoBounds {
  readonly north: number
  readonly south: number
  readonly east: number
  readonly west: number
}

/** The box around `within 5 km of 59.91, 10.75` (km, m, miles or mi). A place off the globe is none. */
export function readGeoBounds(text: string): GeoBounds | undefined {
  const near = readNearLocation(text)
  if (near === undefined) return undefined
  const { lat: latitude, lon: longitude, kilometres } = near
  const high = kilometres / KILOMETRES_A_DEGREE
  const [north, south] = [Math.min(90, latitude + high), Math.max(-90, latitude - high)]
  // Around a pole every longitude is near.
  const wide = high / Math.cos((Math.max(Math.abs(north), Math.abs(south)) * Math.PI) / 180)
  if (north === 90 || south === -90 || wide >= 180)
    return { north: roundDegrees(north), south: roundDegrees(south), east: 180, west: -180 }
  return {
    north: roundDegrees(north),
    south: roundDegrees(south),
    east: wrapped(longitude + wide),
    west: wrapped(longitude - wide),
  }
}

/** The name of `zone 4`, `area north` or `the harbour area`: what a text calls one. */
export function readZoneName(text: string): string | undefined {
  const [, kind, name] = ZONE_FIRST.exec(text) ?? []
  if (name !== undefined && !NO_NAMES.has(name.toLowerCase())) return `${kind?.toLowerCase()} ${name}`
  const [, before, last] = ZONE_LAST.exec(text) ?? []
  return before === undefined || NO_NAMES.has(before.toLowerCase()) ? undefined : `${before} ${last?.toLowerCase()}`
}

/** A degree of latitude, and one of longitude at the equator. */
const KILOMETRES_A_DEGREE = 111.32

const ZONE_FIRST = /\b(zone|area) {1,3}([A-Za-z0-9][\w-]{0,60})/i
const ZONE_LAST = /\b(?:in|inside|within|of|from) {1,3}(?:the {1,3})?([A-Za-z0-9][\w-]{0,60}) {1,3}(zone|area)\b/i
/** Words that stand there and name nothing: `the area of Norway` is a size. */
const NO_NAMES: ReadonlySet<string> = new Set(
  'a an and are at by for from has have in is it of on or that the this to was were which with what same total'.split(
    ' ',
  ),
)

/** Degrees to about a tenth of a metre. */
function roundDegrees(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}

function wrapped(degrees: number): number {
  if (degrees > 180) return roundDegrees(degrees - 360)
  return roundDegrees(degrees < -180 ? degrees + 360 : degrees)
}

/** A circle on the globe a text speaks of. */
export interface NearLocation {
  readonly lat: number
  readonly lon: number
  readonly kilometres: number
}

/** `within 5 km of 59.91, 10.75` (km, m, miles or mi). A place off the globe is none. */
export function readNearLocation(text: string): NearLocation | undefined {
  const [, radius, unit = '', latitude, longitude] = NEAR_PATTERN.exec(text) ?? []
  const [lat, lon] = [Number(latitude), Number(longitude)]
  if (radius === undefined || Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined
  return { lat, lon, kilometres: Number(radius) * (KILOMETRES_A_UNIT[unit.toLowerCase()] ?? 1.609344) }
}

/** Between two places, on a sphere: half a percent off at the most. */
export function kilometresBetween(a: Omit<NearLocation, 'kilometres'>, b: Omit<NearLocation, 'kilometres'>): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const high = Math.sin(radians(b.lat - a.lat) / 2) ** 2
  const wide = Math.sin(radians(b.lon - a.lon) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.sqrt(high + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * wide))
}

/** Mean radius. */
const EARTH_KM = 6_371

const DEGREES = '(-?\\d{1,3}(?:\\.\\d{1,15})?)'
/** The pattern of readNearLocation(). */
const NEAR_PATTERN = new RegExp(
  `\\bwithin {0,3}(\\d{1,6}(?:\\.\\d{1,6})?) {0,3}(km|kilometres?|kilometers?|metres?|meters?|m|miles?|mi)\\.? {1,3}of {1,3}\\(?${DEGREES} {0,3},? {0,3}${DEGREES}(?![\\d.]*\\d)`,
  'i',
)
const KILOMETRES_A_UNIT: Readonly<Record<string, number>> = {
  km: 1,
  kilometre: 1,
  kilometres: 1,
  kilometer: 1,
  kilometers: 1,
  m: 0.001,
  metre: 0.001,
  metres: 0.001,
  meter: 0.001,
  meters: 0.001,
}

/** A question without the words that became a time range or a box: those chose the evidence, it need not repeat them. */
export function questionWithoutTimeAndLocation(topic: string): string {
  return topic.replaceAll('_', ' ').replace(NEAR_PATTERN, ' ').replaceAll(TIME_PATTERN, ' ')
}
