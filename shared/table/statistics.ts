import { maxSorted, mean, medianSorted, minSorted, quantileSorted, sampleStandardDeviation } from 'simple-statistics'
import { canonicalJson, type Json } from '../text/json.ts'
import { type Confidence, medianRanks, studentT } from './confidence-interval.ts'
import type { Table } from './tabular-data.ts'

interface GroupStats {
  readonly group: string
  readonly rows: number
  readonly columns: Readonly<Record<string, ColumnStats>>
}

/** Statistics of a table: plain JSON, no NaN, no Infinity; a figure that does not exist is null. */
export interface TableStats {
  readonly rows: number
  readonly confidence: Confidence
  /** How the intervals were made, in words. */
  readonly method: string
  readonly columns: Readonly<Record<string, ColumnStats>>
  /** With `group_by`: the same for the rows of each value, ordered by the value's text. */
  readonly groups?: readonly GroupStats[]
}

export interface TableQuestion {
  readonly columns?: readonly string[] | undefined
  readonly confidence?: Confidence | undefined
  readonly group_by?: string | undefined
}

const MAX_GROUPS = 200
const METHOD =
  'mean: Student t interval; median: order statistics (binomial, no distribution assumed); quartiles: linear interpolation (type 7); standard deviation: n - 1'

/**
 * Describes the columns asked for (all when none are named), over all rows and per value of `group_by`. Answers
 * `problem`, naming what the table has, when a column is unknown or there are more than 200 groups.
 */
export function tableStatistics(table: Table, question: TableQuestion = {}): TableStats | { readonly problem: string } {
  const { confidence = 0.95, group_by } = question
  const names = question.columns ?? [...table.columns.keys()].filter((name) => name !== group_by)
  const unknown = [...names, ...(group_by === undefined ? [] : [group_by])].find((name) => !table.columns.has(name))
  if (unknown !== undefined) return { problem: `there is no column "${unknown}"; it has ${columnList(table)}` }
  const columns = statsOf(table, names, confidence)
  const stats = { rows: table.rows, confidence, method: METHOD, columns }
  if (group_by === undefined) return stats
  const parts = partsOf(table.columns.get(group_by) ?? [])
  if (parts.size > MAX_GROUPS)
    return { problem: `column "${group_by}" has ${parts.size} values to group by, more than ${MAX_GROUPS}` }
  const groups = [...parts]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([group, places]) => ({ group, rows: places.length, columns: statsOf(table, names, confidence, places) }))
  return { ...stats, groups }
}

function columnList(table: Table): string {
  const names = [...table.columns.keys()]
  const more = names.length > 20 ? ` and ${names.length - 20} more` : ''
  return `${names
    .slice(0, 20)
    .map((name) => `"${name}"`)
    .join(', ')}${more}`
}

function statsOf(table: Table, names: readonly string[], confidence: Confidence, places?: readonly number[]) {
  const entries = names.map((name) => {
    const all = table.columns.get(name) ?? []
    return [name, columnStats(places === undefined ? all : places.map((at) => all[at] ?? null), confidence)] as const
  })
  return Object.fromEntries(entries)
}

function partsOf(values: readonly Json[]): ReadonlyMap<string, readonly number[]> {
  const parts = new Map<string, number[]>()
  for (const [at, value] of values.entries()) {
    const group = value === null ? '(missing)' : typeof value === 'string' ? value : JSON.stringify(value)
    const places = parts.get(group)
    if (places === undefined) parts.set(group, [at])
    else places.push(at)
  }
  return parts
}

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
function columnStats(values: readonly Json[], confidence: Confidence): ColumnStats {
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
  const places = medianRanks(confidence, sorted.length)
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
