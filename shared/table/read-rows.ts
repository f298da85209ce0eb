import { Fault } from '../errors.ts'
import type { Json } from '../text/json.ts'
import { jsonTextProblem, readStrictJson } from '../text/strict-json.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import {
  type ColumnRule,
  columnNameProblem,
  columnTypes,
  isRequired,
  type Row,
  TABLE_LIMITS,
  type TableProblem,
  type TypedColumn,
  tooLarge,
} from './columns.ts'
import {
  type BrokenRecord,
  detectSeparator,
  lineBreaks,
  SEPARATORS,
  type Separator,
  scanRecords,
  separatorLine,
  separatorSign,
  type TextRecord,
} from './delimited-text.ts'

export const TABLE_FORMATS = ['csv', 'tsv', 'ndjson', 'json'] as const

export type TableFormat = (typeof TABLE_FORMATS)[number]

/** How a table is read (docs/dag.md, "Tables"). What is not said is found out. */
export interface ReadQuestion {
  readonly format?: TableFormat | undefined
  readonly separator?: Separator | undefined
  /** Columns by name, with what their cells hold. */
  readonly columns?: Readonly<Record<string, ColumnRule>> | undefined
  /** No column but those of `columns`. */
  readonly strict?: boolean | undefined
  /** `keep`: an apostrophe before a formula stays (write-rows.ts puts it there). */
  readonly formulas?: 'escape' | 'keep' | undefined
}

/**
 * The rows, and the names of their columns in the order of the source: members of a row lose theirs where a value is
 * stored, as canonical JSON. Or the first thing wrong with the table, in words that name its place.
 */
export type ReadRows = { readonly rows: readonly Row[]; readonly columns: readonly string[] } | TableProblem

/**
 * Reads a text, or a list that is rows already, as rows by the names of its columns. A text is CSV with one of four
 * separators, TSV, JSON (a list of objects) or NDJSON (an object a line). Cells of CSV are texts where no type is
 * declared. Exactly one row a record; nothing is trimmed, dropped or guessed.
 */
export function readRows(source: Json, question: ReadQuestion): ReadRows {
  if (typeof source !== 'string') return readList(source, question)
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source
  switch (question.format ?? formatOf(text)) {
    case 'json':
      return readJson(text, question)
    case 'ndjson':
      return readLines(text, question)
    case 'tsv':
      return readDelimited(text, { ...question, separator: question.separator ?? SEPARATORS.tab })
    case 'csv':
      return readDelimited(text, question)
  }
}

/** By its first character: [ opens a list of JSON, { a line of NDJSON; everything else is CSV. */
function formatOf(text: string): TableFormat {
  const [first] = text.trimStart()
  return first === '[' ? 'json' : first === '{' ? 'ndjson' : 'csv'
}

function readDelimited(text: string, question: ReadQuestion): ReadRows {
  const told = separatorLine(text)
  const separator = question.separator ?? told?.mark ?? detectSeparator(text)
  if (separatorSign(separator) !== separator) {
    return { code: 'table_malformed', problem: `line 1 says the separator ${quoted(separator)}; ${ALLOWED_SEPARATORS}` }
  }
  const records = scanRecords(told?.rest ?? text, separator, told === undefined ? 1 : 2)
  const first = firstRecord(records)
  if ('broken' in first) return brokenRecord(first)
  const header = checkHeader(first, question, separator)
  return 'problem' in header ? header : readRecords(records, question, header.columns, separator)
}

function readRecords(
  records: Generator<TextRecord | BrokenRecord>,
  question: ReadQuestion,
  columns: readonly TypedColumn[],
  separator: string,
): ReadRows {
  const reading = startReading(question)
  for (const { name } of columns) reading.columns.add(name)
  for (const record of records) {
    if ('broken' in record) return brokenRecord(record)
    const stop = record.blank ? undefined : takeRecord(reading, record, columns, separator)
    if (stop !== undefined) return stop
  }
  return endReading(reading)
}

/** The header; of a text without any record one without columns. */
function firstRecord(records: Generator<TextRecord | BrokenRecord>): TextRecord | BrokenRecord {
  for (;;) {
    const { value, done } = records.next()
    if (done === true) return { line: 1, cells: [], blank: true }
    if ('broken' in value || !value.blank) return value
  }
}

function brokenRecord({ line, cell, broken }: BrokenRecord): TableProblem {
  return { code: 'table_malformed', problem: `line ${line}, cell ${cell} ${broken}; ${QUOTING}` }
}

const ALLOWED_SEPARATORS = `allowed are ${Object.keys(SEPARATORS).join(', ')}`
const QUOTING = 'a field with quotes in it stands in quotes itself, and they are doubled: "a ""b"" c"'

/** What is read so far: the first problem of a row, and how many more there are. */
interface RowReading {
  readonly question: ReadQuestion
  readonly rows: Row[]
  readonly columns: Set<string>
  cells: number
  first: string | undefined
  more: number
}

function startReading(question: ReadQuestion): RowReading {
  return { question, rows: [], columns: new Set(), cells: 0, first: undefined, more: 0 }
}

function endReading({ rows, columns, first, more }: RowReading): ReadRows {
  if (first === undefined) return { rows, columns: [...columns] }
  const others = more === 0 ? '' : `; and ${more} more ${more === 1 ? 'row is' : 'rows are'} wrong`
  return { code: 'table_row', problem: `${first}${others}` }
}

function refuseRow(reading: RowReading, problem: string): void {
  if (reading.first === undefined) reading.first = problem
  else reading.more += 1
}

/** Over a limit nothing more is read. */
function countRow(reading: RowReading, cells: number, place: string): TableProblem | undefined {
  reading.cells += cells
  if (reading.rows.length >= TABLE_LIMITS.rows) return tooLarge(`${place} is one row more than`, 'rows', 'rows')
  return reading.cells > TABLE_LIMITS.cells
    ? tooLarge(`with ${place} it has more cells than`, 'cells', 'cells')
    : undefined
}

function takeRecord(
  reading: RowReading,
  { line, cells }: { readonly line: number; readonly cells: readonly string[] },
  header: readonly TypedColumn[],
  separator: string,
): TableProblem | undefined {
  const over = countRow(reading, cells.length, `line ${line}`)
  if (over !== undefined) return over
  const long = cells.findIndex((cell) => cell.length > TABLE_LIMITS.cell_characters)
  if (long >= 0) return tooLarge(`line ${line}, cell ${long + 1} is longer than`, 'cell_characters', 'characters')
  const present = header.filter(({ absent }) => absent !== true)
  if (cells.length === present.length) takeCells(reading, header, cells, line)
  else refuseRow(reading, widthProblem(line, cells, present, separator))
  return undefined
}

function widthProblem(line: number, cells: readonly string[], header: readonly TypedColumn[], separator: string) {
  const seen = `line ${line} has ${counted(cells.length, 'cell')}, the header line has ${counted(header.length, 'column')}`
  const mark = Object.entries(SEPARATORS).find(([, sign]) => sign === separator)?.[0]
  const start = quoted(cells.slice(0, 5).join(separator).slice(0, 60))
  return `${seen} (separator ${mark}; the line begins ${start})`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function takeCells(reading: RowReading, header: readonly TypedColumn[], cells: readonly string[], line: number): void {
  const keepsFormulas = reading.question.formulas === 'keep'
  const entries: [string, Json][] = []
  for (const [at, column] of header.entries()) {
    const cell = cells[at]
    const text = cell === undefined || keepsFormulas ? cell : withoutGuard(cell)
    const value = text === undefined ? null : column.read(text)
    if (value === undefined) {
      const place = `line ${lineOfCell(line, cells, at)}, column ${quoted(column.name)} (${at + 1})`
      refuseRow(reading, `${place}: ${column.refusal(text ?? '')}`)
      return
    }
    entries.push([column.name, value])
  }
  reading.rows.push(Object.fromEntries(entries))
}

function lineOfCell(line: number, cells: readonly string[], at: number): number {
  return line + cells.slice(0, at).reduce((sum, before) => sum + lineBreaks(before), 0)
}

/** A cell as it was before a writer put an apostrophe before what spreadsheets run (write-rows.ts). */
function withoutGuard(cell: string): string {
  return cell.startsWith("'") && /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
}

/** The columns of a header line, and after them the optional ones it does not have. */
function checkHeader(
  { cells, line }: TextRecord,
  question: ReadQuestion,
  separator: string,
): { readonly columns: TypedColumn[] } | TableProblem {
  const names = question.formulas === 'keep' ? cells : cells.map(withoutGuard)
  if (names.length > TABLE_LIMITS.columns) {
    return tooLarge(`line ${line} has ${names.length} columns, more than`, 'columns', 'columns')
  }
  const seen = new Map<string, number>()
  for (const [at, name] of names.entries()) {
    const problem = columnNameProblem(name)
    const before = seen.get(name)
    const place = `line ${line}, column ${at + 1}`
    if (problem !== undefined) return header(`${place} of the header ${problem}`)
    if (before !== undefined) return header(`${place} has the name ${quoted(name)} that column ${before} has already`)
    seen.set(name, at + 1)
  }
  const wrong = knownColumnsProblem(names, question, `line ${line}`, separator)
  return wrong === undefined ? { columns: columnTypes(names, question.columns) } : header(wrong)
}

function header(problem: string): TableProblem {
  return { code: 'table_header', problem }
}

/** A required column that is not there, or with `strict` one that nobody declared. */
function knownColumnsProblem(
  names: readonly string[],
  { columns = {}, strict = false }: ReadQuestion,
  place: string,
  separator?: string,
): string | undefined {
  const missing = Object.keys(columns).find((name) => isRequired(columns[name]) && !names.includes(name))
  if (missing !== undefined) {
    const near = didYouMean(suggest(missing, names))
    const other = near ?? (names.length === 1 && separator !== undefined ? 'Is the separator another one?' : undefined)
    return `${place} has no column ${quoted(missing)}; it has ${listed(names)}${hint(other)}`
  }
  const unknown = strict ? names.find((name) => !Object.hasOwn(columns, name)) : undefined
  if (unknown === undefined) return undefined
  const near = didYouMean(suggest(unknown, Object.keys(columns)))
  return `${place} has the unknown column ${quoted(unknown)}; allowed are ${listed(Object.keys(columns))}${hint(near)}`
}

function hint(text: string | undefined): string {
  return text === undefined ? '' : `. ${text}`
}

function readJson(text: string, question: ReadQuestion): ReadRows {
  const parsed = parseStrict(text)
  if ('problem' in parsed) return { code: 'table_malformed', problem: `as JSON ${parsed.problem}` }
  return readList(parsed.value, question)
}

function readList(list: Json, question: ReadQuestion): ReadRows {
  if (!Array.isArray(list)) {
    const what = `it is ${describeValue(list)}; a table is a text or a list of objects`
    return { code: 'table_malformed', problem: what }
  }
  const reading = startReading(question)
  for (const [at, row] of list.entries()) {
    const stop = takeObject(reading, row, `row ${at + 1}`)
    if (stop !== undefined) return stop
  }
  return endReading(reading)
}

function readLines(text: string, question: ReadQuestion): ReadRows {
  const reading = startReading(question)
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const parsed = parseStrict(line)
    if ('problem' in parsed) return { code: 'table_malformed', problem: `line ${at + 1}: as JSON ${parsed.problem}` }
    const stop = takeObject(reading, parsed.value, `line ${at + 1}`)
    if (stop !== undefined) return stop
  }
  return endReading(reading)
}

function takeObject(reading: RowReading, row: Json, place: string): TableProblem | undefined {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    return { code: 'table_malformed', problem: `${place} is ${describeValue(row)}; each row is an object` }
  }
  // TypeScript does not take readonly lists out of Json by Array.isArray.
  const members = row as Row
  const names = Object.keys(members)
  const over = countRow(reading, names.length, place)
  if (over !== undefined) return over
  if (names.length > TABLE_LIMITS.columns) return tooLarge(`${place} has more members than`, 'columns', 'columns')
  const wrong = objectProblem(members, names, reading.question, place)
  if ('problem' in wrong) refuseRow(reading, wrong.problem)
  else {
    reading.rows.push(wrong.row)
    for (const name of Object.keys(wrong.row)) reading.columns.add(name)
  }
  return undefined
}

function objectProblem(
  members: Row,
  names: readonly string[],
  question: ReadQuestion,
  place: string,
): { readonly row: Row } | { readonly problem: string } {
  const nameless = names.map(columnNameProblem).find((problem) => problem !== undefined)
  if (nameless !== undefined) return { problem: `${place}: a member ${nameless}` }
  const wrong = knownColumnsProblem(names, question, place)
  if (wrong !== undefined) return { problem: wrong }
  if (question.columns === undefined) return { row: members }
  const entries: [string, Json][] = []
  for (const column of columnTypes(names, question.columns)) {
    const value = column.absent === true ? null : column.take(members[column.name] ?? null)
    if (value === undefined) {
      return { problem: `${place}, member ${quoted(column.name)}: ${column.refusal(members[column.name] ?? null)}` }
    }
    entries.push([column.name, value])
  }
  return { row: Object.fromEntries(entries) }
}

/** Strictly: a key that comes twice, a number a double would change, and half a character are problems. */
function parseStrict(text: string): { readonly value: Json } | { readonly problem: string } {
  const dense = jsonTextProblem(text)
  if (dense !== undefined) return { problem: `is not parsed, since ${dense.text}` }
  try {
    // It came out of the parser.
    return { value: readStrictJson(text) as Json }
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause
    return {
      problem: `cannot be read: ${cause.message.replace(/^Cannot read the body(?: as JSON)?: /, '').replace(/\.$/, '')}`,
    }
  }
}
