import { canonicalJson, type Json } from '../text/json.ts'
import { describeValue, quoted } from '../text/wording.ts'
import { columnNameProblem, type Row, TABLE_LIMITS, type TableProblem, tooLarge } from './columns.ts'
import { SEPARATORS, type Separator, writeCell, writeFirstCell } from './delimited-text.ts'
import type { TableFormat } from './read-rows.ts'

/** How rows are written (docs/dag.md, "Tables"). */
export interface WriteQuestion {
  readonly format: TableFormat
  /** Of CSV; default a comma. */
  readonly separator?: Separator | undefined
  /** These and no others, in this order; default: all, in the order in which rows first have them. */
  readonly columns?: readonly string[] | undefined
  readonly line_end?: 'lf' | 'crlf' | undefined
  /** Begins with a byte order mark. */
  readonly bom?: boolean | undefined
  readonly formulas?: 'escape' | 'keep' | undefined
}

export type WrittenRows =
  | { readonly text: string; readonly rows: number; readonly columns: readonly string[] }
  | TableProblem

/**
 * A list of objects as a text, one record a row, that readRows reads as the same rows. Of CSV and TSV: the cells of
 * missing members and null are empty, numbers and true and false are as in JSON, lists and objects are canonical JSON,
 * and texts a spreadsheet would run have an apostrophe before them.
 */
export function writeRows(list: Json, question: WriteQuestion): WrittenRows {
  const checked = checkRows(list)
  if ('problem' in checked) return checked
  const { rows } = checked
  const columns = question.columns ?? columnsOf(rows)
  const refused = columnsProblem(columns, rows)
  if (refused !== undefined) return refused
  const text = textOf(rows, columns, question)
  const size = utf8Length(text)
  return size > TABLE_LIMITS.text_bytes
    ? tooLarge(`as ${question.format} it has ${size} bytes, more than`, 'text_bytes', 'bytes')
    : { text, rows: rows.length, columns }
}

function checkRows(list: Json): { readonly rows: readonly Row[] } | TableProblem {
  if (!Array.isArray(list)) return malformed(`it is ${describeValue(list)}; rows are a list of objects`)
  if (list.length > TABLE_LIMITS.rows) return tooLarge(`it has ${list.length} rows, more than`, 'rows', 'rows')
  const at = list.findIndex((row) => typeof row !== 'object' || row === null || Array.isArray(row))
  if (at < 0) return { rows: list }
  const failed = list[at] === null ? ' (of a foreach, an item that failed is null: leave it out before)' : ''
  return malformed(`row ${at + 1} is ${describeValue(list[at])}; each row is an object${failed}`)
}

function malformed(problem: string): TableProblem {
  return { code: 'table_malformed', problem }
}

function columnsOf(rows: readonly Row[]): readonly string[] {
  const names = new Set<string>()
  for (const row of rows) for (const name of Object.keys(row)) names.add(name)
  return [...names]
}

function columnsProblem(columns: readonly string[], rows: readonly Row[]): TableProblem | undefined {
  if (columns.length > TABLE_LIMITS.columns) {
    return tooLarge(`its rows have ${columns.length} columns, more than`, 'columns', 'columns')
  }
  if (columns.length === 0 && rows.length > 0) {
    return { code: 'table_header', problem: 'its rows have no members, so there is no column; name some in "columns"' }
  }
  if (columns.length * rows.length > TABLE_LIMITS.cells) {
    return tooLarge(`it has ${columns.length * rows.length} cells, more than`, 'cells', 'cells')
  }
  for (const [at, name] of columns.entries()) {
    const problem = columnNameProblem(name)
    if (problem !== undefined) return { code: 'table_header', problem: `column ${at + 1} ${problem}` }
  }
  return longCell(columns, rows)
}

/** What readRows would not read either. */
function longCell(columns: readonly string[], rows: readonly Row[]): TableProblem | undefined {
  for (const [at, row] of rows.entries()) {
    for (const name of columns) {
      const value = row[name]
      if (typeof value !== 'string' || value.length <= TABLE_LIMITS.cell_characters) continue
      return tooLarge(`row ${at + 1}, column ${quoted(name)} is longer than`, 'cell_characters', 'characters')
    }
  }
  return undefined
}

function textOf(rows: readonly Row[], columns: readonly string[], question: WriteQuestion): string {
  switch (question.format) {
    case 'json':
      return `${JSON.stringify(picked(rows, columns), null, 2)}\n`
    case 'ndjson':
      return picked(rows, columns)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join('')
    case 'csv':
      return delimited(rows, columns, question, question.separator ?? SEPARATORS.comma)
    case 'tsv':
      return delimited(rows, columns, question, SEPARATORS.tab)
  }
}

/** The members of each row that are columns, in their order. */
function picked(rows: readonly Row[], columns: readonly string[]): readonly Row[] {
  return rows.map((row) =>
    Object.fromEntries(columns.flatMap((name) => (Object.hasOwn(row, name) ? [[name, row[name] ?? null]] : []))),
  )
}

function delimited(
  rows: readonly Row[],
  columns: readonly string[],
  { line_end = 'lf', bom = false, formulas = 'escape' }: WriteQuestion,
  separator: Separator,
): string {
  const end = line_end === 'crlf' ? '\r\n' : '\n'
  const guard = formulas === 'escape' ? guarded : (text: string) => text
  const lines = rows.map((row) => {
    const cells = columns.map((name) => writeCell(cellOf(Object.hasOwn(row, name) ? row[name] : undefined, guard)))
    return `${line(cells, separator)}${end}`
  })
  const head = columns.map((name, at) => (at === 0 ? writeFirstCell(guard(name)) : writeCell(guard(name))))
  const header = columns.length === 0 ? '' : `${line(head, separator)}${end}`
  return `${bom ? '\uFEFF' : ''}${header}${lines.join('')}`
}

/** A line of one empty cell would be blank, and no row. */
function line(cells: readonly string[], separator: Separator): string {
  return cells.length === 1 && cells[0] === '' ? '""' : cells.join(separator)
}

function cellOf(value: Json | undefined, guard: (text: string) => string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return guard(value)
  // What begins with [ or { or a digit is no formula, and a number below zero stays one.
  return canonicalJson(value)
}

/**
 * Spreadsheets run a cell that begins with one of = + - @ tab and CR; with an apostrophe before it they show it. A text
 * that is exactly a number is none of these: it stays. What has such an apostrophe already gets one more, so that reading
 * takes away what writing put there and nothing else.
 */
function guarded(text: string): string {
  return /^'*[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).byteLength
}
