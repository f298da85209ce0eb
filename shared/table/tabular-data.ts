import { inexactNumber, inexactNumbers, inexactNumberWords } from '../text/inexact-numbers.ts'
import type { Json } from '../text/json.ts'

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
 * Reads CSV (RFC 4180: quoted fields, doubled quotes, line breaks inside quotes; CRLF, LF or CR). The separator is
 * the one of `,` `;` tab that occurs most in the first record, quoted fields left out. Blank lines and a byte order mark are skipped; every
 * record must have as many fields as the first. Linear in the text.
 */
export function parseCsv(source: string): Csv {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source
  const records: (readonly string[])[] = []
  for (const { at, fields } of scan(text)) {
    if (fields === undefined)
      return { problem: `${lineOf(text, at)} has a quote that does not open or close a whole field` }
    if (fields.length === 1 && fields[0] === '') continue
    const width = records[0]?.length ?? fields.length
    if (fields.length !== width) {
      return { problem: `${lineOf(text, at)} has ${fields.length} fields, the first line has ${width}` }
    }
    records.push(fields)
  }
  return { records }
}

/** Each record with the place of its last field; no `fields` = the text is not CSV from there on. */
function* scan(text: string): Generator<{ readonly at: number; readonly fields?: readonly string[] }> {
  const separator = separatorOf(text)
  const field = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`, 'y')
  let fields: string[] = []
  let more = text.length > 0
  while (more) {
    const at = field.lastIndex
    const found = field.exec(text)
    if (found === null) return yield { at }
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '')
    const goesOn = found[3] === separator
    more = goesOn || field.lastIndex < text.length
    if (goesOn) continue
    yield { at, fields }
    fields = []
  }
}

function separatorOf(text: string): string {
  const header = unquotedHeader(text)
  const counts = [',', ';', '\t'].map((mark) => ({ mark, count: header.split(mark).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).mark
}

/** The first record without its quoted fields, which may have line breaks of their own. */
function unquotedHeader(text: string): string {
  let header = ''
  for (let from = 0; ; ) {
    const open = text.indexOf('"', from)
    const outside = open < 0 ? text.slice(from) : text.slice(from, open)
    const end = outside.search(/[\r\n]/)
    if (end >= 0) return header + outside.slice(0, end)
    header += outside
    const close = open < 0 ? -1 : text.indexOf('"', open + 1)
    if (close < 0) return header
    from = close + 1
  }
}

function lineOf(text: string, at: number): string {
  return `line ${text.slice(0, at).split(/\r\n|\n|\r/).length}`
}
