import { maxSorted, mean, medianSorted, minSorted, quantileSorted, sampleStandardDeviation } from 'simple-statistics'
import { canonicalJson, type Json } from '../canonical.ts'
import { type Confidence, medianPlaces, studentT } from './interval.ts'

/** Both ends belong to it; null when there are too few values for one. */
export type Interval = { readonly low: number; readonly high: number } | null

/** `count` values that are there, `missing` that are not. Numbers are in the column's own unit. */
export type ColumnStats = { readonly count: number; readonly missing: number } & (
  | ({ readonly kind: 'number' } & NumberStats)
  | { readonly kind: 'text'; readonly distinct: number; readonly top: readonly { value: string; count: number }[] }
)

interface NumberStats {
  readonly min: number
  readonly q1: number
  readonly median: number
  readonly median_ci: Interval
  readonly q3: number
  readonly max: number
  readonly mean: number
  readonly mean_ci: Interval
  readonly sd: number | null
}

const TOP = 5

/** Squares of larger values would overflow, and JSON has no Infinity. */
const LARGEST = 1e150

/**
 * A column is numeric when it has a value and all its values are numbers of at most 1e150; everything else is text
 * (booleans, lists and objects by their JSON). `top` = up to five values by count, then by text.
 */
export function columnStats(values: readonly Json[], confidence: Confidence): ColumnStats {
  const present = values.filter((value) => value !== null)
  const seen = { count: present.length, missing: values.length - present.length }
  const numbers = present.filter((value): value is number => typeof value === 'number' && Math.abs(value) <= LARGEST)
  if (numbers.length > 0 && numbers.length === present.length) {
    return { kind: 'number', ...seen, ...numberStats(numbers, confidence) }
  }
  return { kind: 'text', ...seen, ...textStats(present) }
}

function numberStats(values: readonly number[], confidence: Confidence): NumberStats {
  const sorted = values.toSorted((left, right) => left - right)
  const average = withoutMinusZero(mean(sorted))
  const sd = sorted.length < 2 ? null : sampleStandardDeviation(sorted)
  const places = medianPlaces(confidence, sorted.length)
  return {
    min: minSorted(sorted),
    q1: withoutMinusZero(quantileSorted(sorted, 0.25)),
    median: withoutMinusZero(medianSorted(sorted)),
    median_ci: places === undefined ? null : interval(sorted[places[0]], sorted[places[1]]),
    q3: withoutMinusZero(quantileSorted(sorted, 0.75)),
    max: maxSorted(sorted),
    mean: average,
    mean_ci: meanInterval(average, sd, sorted.length, confidence),
    sd,
  }
}

function meanInterval(average: number, sd: number | null, count: number, confidence: Confidence): Interval {
  if (sd === null) return null
  const half = (studentT(confidence, count - 1) * sd) / Math.sqrt(count)
  return interval(average - half, average + half)
}

function interval(low: number | undefined, high: number | undefined): Interval {
  return low === undefined || high === undefined ? null : { low: withoutMinusZero(low), high: withoutMinusZero(high) }
}

/** Zero is 0: JSON has no -0, which numbers too small for a double are rounded to. */
function withoutMinusZero(value: number): number {
  return value === 0 ? 0 : value
}

function textStats(values: readonly Json[]) {
  const counts = new Map<string, number>()
  for (const value of values) {
    const text = typeof value === 'string' ? value : canonicalJson(value)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const top = [...counts]
    .sort(([left, many], [right, more]) => more - many || (left < right ? -1 : 1))
    .slice(0, TOP)
    .map(([value, count]) => ({ value, count }))
  return { distinct: counts.size, top }
}
