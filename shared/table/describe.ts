import type { Json } from '../canonical.ts'
import { type ColumnStats, columnStats } from './column.ts'
import type { Confidence } from './interval.ts'
import type { Table } from './table.ts'

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
export function describeTable(table: Table, question: TableQuestion = {}): TableStats | { readonly problem: string } {
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
