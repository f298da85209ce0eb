import { DURATION_RULE, isTime, readDuration } from '../text/duration.ts'
import { quoted } from '../text/wording.ts'
import { queryField } from './fields.ts'
import { problem, type Read } from './query-problem.ts'
import type { TokenPart } from './tokens.ts'

export type RangeField = 'time' | 'ended' | 'duration' | 'cost' | 'tokens'

/** Of times milliseconds since 1970, of durations milliseconds, of costs millionths of a dollar. */
export interface Range {
  readonly min?: number
  readonly max?: number
  /** The bound itself is outside. */
  readonly above?: true
  readonly below?: true
}

/** `>5`, `<=5`, `1..5`, `5..`, or one value: of a date its whole day, of `7d` the last seven days. */
export function readRange(field: RangeField, parts: readonly TokenPart[], now: number): Read<Range> {
  const [part = { at: 0, text: '', quoted: false }, more] = parts
  if (more !== undefined) return problem(more.at, `${field} takes one range, as ${queryField(field).example}`)
  const dots = part.text.indexOf('..')
  return dots === -1 ? readSigned(field, part, now) : readBetween(field, part, dots, now)
}

function readBetween(field: RangeField, { at, text }: TokenPart, dots: number, now: number): Read<Range> {
  const [low, high] = [text.slice(0, dots), text.slice(dots + 2)]
  if (low === '' && high === '') return problem(at, 'a bound stands before the dots, behind them, or on both sides')
  const from = low === '' ? OPEN : readBound(field, low, at, now)
  if ('problem' in from) return from
  const to = high === '' ? OPEN : readBound(field, high, at + dots + 2, now)
  if ('problem' in to) return to
  const range = {
    ...(from.least !== undefined && { min: from.least }),
    ...(to.most !== undefined && { max: to.most }),
  }
  return (range.min ?? 0) > (range.max ?? Number.POSITIVE_INFINITY)
    ? problem(at, `${quoted(text)} ends before it begins`)
    : range
}

const SIGNED = /^(>=|<=|>|<)?(.*)$/s

function readSigned(field: RangeField, { at, text }: TokenPart, now: number): Read<Range> {
  const [, sign, value = ''] = SIGNED.exec(text) ?? []
  const bound = readBound(field, value, at + (sign?.length ?? 0), now)
  if ('problem' in bound) return bound
  const { least = 0, most = 0, ago } = bound
  switch (sign) {
    // A date is a whole day: after it is after its end.
    case '>':
      return { min: most, above: true }
    case '>=':
      return { min: least }
    case '<':
      return { max: least, below: true }
    case '<=':
      return { max: most }
    default:
      return ago === true ? { min: least } : { min: least, max: most }
  }
}

/** Of a date the first and the last moment of its day, else one value twice; `ago`: it was counted back from now. */
interface Bound {
  readonly least?: number
  readonly most?: number
  readonly ago?: true
}

const OPEN: Bound = {}

function readBound(field: RangeField, text: string, at: number, now: number): Read<Bound> {
  switch (field) {
    case 'time':
    case 'ended':
      return readMoment(text, at, now)
    case 'duration': {
      const seconds = readDuration(/^\d{1,12}$/.test(text) ? Number(text) : text)
      if (seconds === undefined) return problem(at, `${quoted(text)} is no duration: ${DURATION_RULE}`)
      return { least: seconds * 1_000, most: seconds * 1_000 }
    }
    case 'cost': {
      const usd = /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Math.round(Number(text) * 1_000_000) : undefined
      if (usd === undefined)
        return problem(at, `${quoted(text)} is no amount: dollars as 0.25, with 6 decimals at most`)
      return { least: usd, most: usd }
    }
    case 'tokens':
      if (!/^\d{1,15}$/.test(text)) return problem(at, `${quoted(text)} is no whole number`)
      return { least: Number(text), most: Number(text) }
  }
}

const DAY_MS = 86_400_000

function readMoment(text: string, at: number, now: number): Read<Bound> {
  const ago = readDuration(text)
  if (ago !== undefined) return { least: now - ago * 1_000, most: now - ago * 1_000, ago: true }
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(day) && new Date(day).toISOString().startsWith(text)) return { least: day, most: day + DAY_MS - 1 }
  if (isTime(text)) return { least: Date.parse(text), most: Date.parse(text) }
  const rule = 'a day as 2026-03-01 (UTC), a time as 2026-03-01T09:00:00Z, or how long ago as 7d or 12h'
  return problem(at, `${quoted(text)} is no time: ${rule}`)
}
