import type { ColumnStats, Interval, TableStats } from './statistics.ts'

/**
 * A table's statistics as sentences, one a line: what a person would write under it. Numbers: thousands separators,
 * no decimals from 1,000, two from 1, three significant digits below.
 */
export function tableSentences(stats: TableStats): string {
  const percent = Math.round(stats.confidence * 100)
  const head = `The table has ${count(stats.rows, 'row')} and ${count(Object.keys(stats.columns).length, 'column')} described here.`
  const columns = Object.entries(stats.columns).map(([name, column]) => sentence(name, column, percent))
  const groups = (stats.groups ?? []).flatMap(({ group, columns: own }) =>
    Object.entries(own).map(([name, column]) => sentence(`${name} in ${group}`, column, percent)),
  )
  return [head, ...columns, ...groups].join('\n')
}

/** A number as the sentences write it. */
function numberWords(value: number): string {
  const size = Math.abs(value)
  if (size >= 1_000 || Number.isInteger(value)) return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
  if (size >= 1) return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
}

function sentence(name: string, column: ColumnStats, percent: number): string {
  const missing = column.missing === 0 ? 'none missing' : `${numberWords(column.missing)} missing`
  const seen = `${name}: ${count(column.count, 'value')}, ${missing}`
  if (column.kind === 'text') {
    const top = column.top.map(({ value, count: times }) => `${value} (${numberWords(times)})`).join(', ')
    return `${seen}; ${count(column.distinct, 'distinct value')}${top === '' ? '' : `, most often ${top}`}.`
  }
  const spread = `from ${numberWords(column.min)} to ${numberWords(column.max)}, half of them between ${numberWords(column.q1)} and ${numberWords(column.q3)}`
  const middle = `median ${numberWords(column.median)}${range(column.median_ci, percent)}`
  const mean = `mean ${numberWords(column.mean)}${range(column.mean_ci, percent)}`
  const outside = column.mean > column.q3 || column.mean < column.q1
  const advice = outside
    ? ' The mean lies outside the middle half, so the median describes a typical value better.'
    : ''
  return `${seen}; ${spread}; ${middle}, ${mean}.${advice}`
}

function range(interval: Interval, percent: number): string {
  if (interval === null) return ''
  return ` (${percent} % confidence interval ${numberWords(interval.low)} to ${numberWords(interval.high)})`
}

function count(amount: number, noun: string): string {
  return `${numberWords(amount)} ${noun}${amount === 1 ? '' : 's'}`
}
