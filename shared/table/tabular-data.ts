import type { Json } from '../text/json.ts'
import { inexactNumber, inexactNumbers, inexactNumberWords } from '../text/strict-json.ts'
import { detectSeparator, SEPARATORS, scanRecords } from './delimited-text.ts'

/** A table as columns: every column has `rows` values; null = missing. */
export interface Table {
  readonly rows: number
  readonly columns: ReadonlyMap<string, readonly Json[]>
}

/**
 * Reads JSON rows (an array of objects, or JSON text of one) or CSV text whose first line names the columns. JSON
 * columns are the members of all rows in order of first sight; absent members, null and blank text are missing.
 * CSV fields that are exactly a decimal number become numbers. Answers `problem` when the value is no table, or has a
 * number that a double would change: as text it can only stand in JSON rows.
 */
export function readTable(value: Json): Table | { readonly problem: string } {
  if (Array.isArray(value)) return readRows(value)
  if (typeof value !== 'string') return { problem: `it is ${value === null ? 'null' : typeof value}` }
  const text = value.trim()
  if (!text.startsWith('[')) return readCsv(value)
  try {
    const rows = JSON.parse(text) as Json
    const [changed] = inexactNumbers(text)
    return changed === undefined ? readTable(rows) : { problem: `in its JSON ${inexactNumberWords(changed)}` }
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
  const changed = firstChanged(header, records)
  if (changed !== undefined) return { problem: changed }
  const columns = header.map((name, at) => [name, records.map((record) => fieldValue(record[at] ?? ''))] as const)
  return { rows: records.length, columns: new Map(columns) }
}

/** What a double would change first, in words. */
function firstChanged(header: readonly string[], records: readonly (readonly string[])[]): string | undefined {
  for (const [row, record] of records.entries()) {
    for (const [at, field] of record.entries()) {
      const text = field.trim()
      const changed = NUMBER.test(text) ? inexactNumber(text) : undefined
      if (changed !== undefined)
        return `as CSV, in column "${header[at]}" of row ${row + 1}, ${inexactNumberWords(changed)} in rows of JSON`
    }
  }
  return undefined
}

function fieldValue(field: string): Json {
  const text = field.trim()
  if (text === '') return null
  const number = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : field
}

/** Records of a CSV text, or the first thing wrong with it, with its line. */
type Csv = { readonly records: readonly (readonly string[])[] } | { readonly problem: string }

/**
 * Reads CSV (delimited-text.ts). The separator is the one of `,` `;` tab that occurs most in the first record. Blank
 * lines and a byte order mark are skipped; every record must have as many fields as the first.
 */
export function parseCsv(source: string): Csv {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source
  const records: (readonly string[])[] = []
  const separator = detectSeparator(text, [SEPARATORS.comma, SEPARATORS.semicolon, SEPARATORS.tab])
  for (const record of scanRecords(text, separator)) {
    if ('broken' in record) return { problem: `line ${record.line} ${record.broken}` }
    if (record.blank) continue
    const width = records[0]?.length ?? record.cells.length
    if (record.cells.length !== width) {
      return { problem: `line ${record.line} has ${record.cells.length} fields, the first line has ${width}` }
    }
    records.push(record.cells)
  }
  return { records }
}
