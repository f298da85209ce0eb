import { Fault } from '../../../shared/errors.ts'
import { isolateFor } from '../../../shared/ports/isolate.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { type Row, TABLE_LIMITS } from '../../../shared/table/columns.ts'
import type { ReadRows, TableFormat } from '../../../shared/table/read-rows.ts'
import type { Json } from '../../../shared/text/json.ts'
import { strictNumber } from '../../../shared/text/numbers.ts'
import { didYouMean, listed, quoted, suggest } from '../../../shared/text/wording.ts'
import { BUILTIN_LIMITS, type BuiltinAnswer, type BuiltinArguments } from '../../../shared/tools/builtin-tools.ts'
import type { World } from '../../../shared/world.ts'

/** A table by the name the model gave it: its text, or rows already. */
interface Source {
  readonly name: string
  readonly source: Json
  readonly format: TableFormat | undefined
}

type Question = Omit<BuiltinArguments<'table.query'>, 'artifact' | 'input'>
interface Caller {
  readonly world: Pick<World, 'isolate'>
  readonly run: RunKey
  readonly signal: AbortSignal
}

/**
 * What a model asks of a table. Texts are read, and its JSONata is run, in the isolate with their limits; rows are chosen
 * here, which is linear.
 */
export async function queryTable(table: Source, question: Question, call: Caller): Promise<BuiltinAnswer> {
  refuseBoth(question)
  const { rows, columns } = await readRows(table, call)
  if (question.expression !== undefined) return computed(table, question.expression, rows, call)
  const chosen = sorted(question, filtered(table, question, rows, columns), columns, table)
  for (const name of question.columns ?? []) requireColumn(table, name, columns)
  const { offset, limit } = question
  const shown = chosen.slice(offset, offset + limit).map((row) => only(row, question.columns))
  return answered(shown, { rows: rows.length, chosen: chosen.length, offset }, question.columns ?? columns)
}

function refuseBoth({ expression, where, columns, sort }: Question): void {
  if (expression === undefined || (where.length === 0 && columns === undefined && sort === undefined)) return
  const message =
    'Cannot call "table.query": "expression" stands instead of "where", "columns" and "sort". Leave one out.'
  throw new Fault('InvalidInput', 'tool_arguments', message)
}

/** Many times what the largest table that is allowed takes. */
const LIMIT = { ms: 20_000, mb: 512 }

async function readRows({ name, source, format }: Source, { world, run, signal }: Caller) {
  if (typeof source === 'string' && source.length > TABLE_LIMITS.text_bytes) {
    throw failed(name, `it has ${source.length} characters; the limit is ${TABLE_LIMITS.text_bytes}`)
  }
  const isolate = isolateFor(world.isolate, { tenant: run.tenant, signal })
  const answer = await isolate.run(
    'read_rows',
    { program: format === undefined ? {} : { format }, input: source },
    LIMIT,
  )
  signal.throwIfAborted()
  if (!answer.ok) throw failed(name, `reading it stopped (${answer.because}): ${answer.message}`)
  // What the engine of that kind answers.
  const read = answer.value as unknown as ReadRows
  if ('problem' in read) throw failed(name, read.problem)
  return read
}

async function computed({ name }: Source, expression: string, rows: readonly Row[], { world, run, signal }: Caller) {
  const isolate = isolateFor(world.isolate, { tenant: run.tenant, signal })
  const answer = await isolate.run('transform', { program: expression, input: { rows } })
  signal.throwIfAborted()
  if (!answer.ok) throw failed(name, `the expression stopped (${answer.because}): ${answer.message}`)
  const text = JSON.stringify(answer.value)
  const most = BUILTIN_LIMITS.answer_characters
  if (text.length <= most) return { text, structured: answer.value }
  throw failed(name, `the expression answers ${text.length} characters; the limit is ${most}. Ask for less`)
}

function filtered(table: Source, { where }: Question, rows: readonly Row[], columns: readonly string[]) {
  for (const { column } of where) requireColumn(table, column, columns)
  return rows.filter((row) => where.every((one) => holds(one, row[one.column] ?? null)))
}

type Condition = Question['where'][number]

function holds({ is, value = null }: Condition, seen: Json): boolean {
  if (is === 'empty') return seen === null || seen === ''
  if (is === 'contains') return textOf(seen).toLowerCase().includes(textOf(value).toLowerCase())
  const order = compared(seen, value)
  return COMPARISONS[is](order)
}

const COMPARISONS: Readonly<Record<Exclude<Condition['is'], 'empty' | 'contains'>, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

/** As numbers where both are; a cell of CSV is a text that may say one. Nothing comes first. */
function compared(one: Json, other: Json): number {
  const [a, b] = [numberOf(one), numberOf(other)]
  if (a !== undefined && b !== undefined) return a - b
  const [left, right] = [textOf(one), textOf(other)]
  return left < right ? -1 : left > right ? 1 : 0
}

function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? strictNumber(value.trim()) : undefined
}

function textOf(value: Json): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function sorted({ sort }: Question, rows: readonly Row[], columns: readonly string[], table: Source): readonly Row[] {
  if (sort === undefined) return rows
  const { column, descending } = sort
  requireColumn(table, column, columns)
  const sign = descending ? -1 : 1
  return rows.toSorted((one, other) => sign * compared(one[column] ?? null, other[column] ?? null))
}

function requireColumn({ name }: Source, column: string, columns: readonly string[]): void {
  if (columns.includes(column)) return
  const near = didYouMean(suggest(column, columns))
  throw failed(
    name,
    `it has no column ${quoted(column)}; it has ${listed(columns)}${near === undefined ? '' : `. ${near}`}`,
  )
}

function only(row: Row, columns: readonly string[] | undefined): Row {
  if (columns === undefined) return row
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))
}

interface Counts {
  readonly rows: number
  readonly chosen: number
  readonly offset: number
}

/** One row a line, as many as fit. */
function answered(rows: readonly Row[], counts: Counts, columns: readonly string[]): BuiltinAnswer {
  const lines: string[] = []
  let left: number = BUILTIN_LIMITS.answer_characters
  for (const row of rows) {
    const line = JSON.stringify(row)
    left -= line.length
    if (left < 0) break
    lines.push(line)
  }
  const end = counts.offset + lines.length
  const more = end < counts.chosen ? `; ask for offset ${end}` : ''
  const seen = lines.length === 0 ? 'none is shown' : `rows ${counts.offset + 1} to ${end} are shown${more}`
  const told = `${counts.chosen} of ${counts.rows} rows fit; ${seen}. Columns: ${columns.join(', ') || 'none'}`
  const structured = { rows: rows.slice(0, lines.length), total: counts.chosen, columns }
  return { text: [told, ...lines].join('\n'), structured }
}

function failed(name: string, what: string): Fault {
  return new Fault(
    'InvalidInput',
    'table_query_failed',
    `Cannot query table ${quoted(name)}: ${what.replace(/\.$/, '')}.`,
  )
}
