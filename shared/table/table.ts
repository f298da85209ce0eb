import type { Json } from '../canonical.ts'
import { parseCsv } from './csv.ts'

/** A table as columns: every column has `rows` values; null = missing. */
export interface Table {
  readonly rows: number
  readonly columns: ReadonlyMap<string, readonly Json[]>
}

/**
 * Reads JSON rows (an array of objects, or JSON text of one) or CSV text whose first line names the columns. JSON
 * columns are the members of all rows in order of first sight; absent members, null and blank text are missing.
 * CSV fields that are exactly a decimal number become numbers. Answers `problem` when the value is no table.
 */
export function readTable(value: Json): Table | { readonly problem: string } {
  if (Array.isArray(value)) return readRows(value)
  if (typeof value !== 'string') return { problem: `it is ${value === null ? 'null' : typeof value}` }
  const text = value.trim()
  if (!text.startsWith('[')) return readCsv(value)
  try {
    return readTable(JSON.parse(text) as Json)
  } catch (error) {
    return { problem: `it starts like JSON but does not parse: ${(error as Error).message}` }
  }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/

function readRows(rows: readonly Json[]): Table | { readonly problem: string } {
  const columns = new Map<string, Json[]>()
  for (const [index, row] of rows.entries()) {
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      return { problem: `row ${index + 1} is no object` }
    for (const [name, value] of Object.entries(row)) {
      const column = columns.get(name) ?? new Array<Json>(rows.length).fill(null)
      columns.set(name, column)
      column[index] = typeof value === 'string' && value.trim() === '' ? null : value
    }
  }
  return columns.size === 0 ? { problem: 'it has no rows with members' } : { rows: rows.length, columns }
}

function readCsv(text: string): Table | { readonly problem: string } {
  const csv = parseCsv(text)
  if ('problem' in csv) return csv
  const [header, ...records] = csv.records
  if (header === undefined || records.length === 0) return { problem: 'as CSV it has no line below a header line' }
  if (new Set(header).size < header.length) return { problem: 'as CSV its header line names a column twice' }
  const columns = header.map((name, at) => [name, records.map((record) => fieldValue(record[at] ?? ''))] as const)
  return { rows: records.length, columns: new Map(columns) }
}

function fieldValue(field: string): Json {
  const text = field.trim()
  if (text === '') return null
  const number = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : field
}
