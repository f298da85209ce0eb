import { isReservedKey } from '../limits.ts'
import type { Json } from '../text/json.ts'
import { inexactNumber, inexactNumberWords } from '../text/strict-json.ts'
import { describeValue } from '../text/wording.ts'

/** One row of a table: its values by the names of its columns. */
export type Row = Readonly<Record<string, Json>>

/** What one table may have at most; `text_bytes` of its file, `answer_characters` of its rows as JSON. */
export const TABLE_LIMITS = {
  text_bytes: 10_485_760,
  rows: 100_000,
  columns: 1_000,
  cells: 400_000,
  cell_characters: 262_144,
  name_characters: 200,
  answer_characters: 10_485_760,
} as const

/** `problem` names its place, what was seen and what is allowed. */
export interface TableProblem {
  readonly code: 'table_malformed' | 'table_header' | 'table_row' | 'table_too_large'
  readonly problem: string
}

/** `line 3 has 2000 columns, more than the 1000 columns a table may have`. */
export function tooLarge(seen: string, limit: keyof typeof TABLE_LIMITS, unit: string): TableProblem {
  const problem = `${seen} the ${TABLE_LIMITS[limit]} ${unit} that are allowed; split the table, or leave something out`
  return { code: 'table_too_large', problem }
}

/** Why a text names no column: `has no name`. */
export function columnNameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'has no name'
  if (isReservedKey(name)) return `has the name "${name}", which no column may have`
  const { name_characters: most } = TABLE_LIMITS
  return name.length > most ? `has a name of ${name.length} characters; the limit is ${most}` : undefined
}

export const COLUMN_TYPES = ['text', 'number', 'integer', 'boolean', 'date'] as const

type ColumnType = (typeof COLUMN_TYPES)[number]

/** What a column is declared as; one that is not said to be optional is required. */
export type ColumnRule =
  | ColumnType
  | { readonly type?: ColumnType | undefined; readonly required?: boolean | undefined }

/** A column of one table; `undefined` of `read` and `take` = the value is not allowed, and `refusal` says why. */
export interface TypedColumn {
  readonly name: string
  /** It is declared, optional, and the table does not have it: each row has null. */
  readonly absent?: true
  /** The value of a cell. */
  read(cell: string): Json | undefined
  /** The value of a member of JSON, which may have its type already. */
  take(value: Json): Json | undefined
  refusal(seen: Json): string
}

/** The columns of a table by their names there, each with its rule, and after them the optional ones it does not have. */
export function columnTypes(names: readonly string[], rules: Readonly<Record<string, ColumnRule>> = {}): TypedColumn[] {
  const there = names.map((name) => (Object.hasOwn(rules, name) ? typedColumn(name, rules[name]) : freeColumn(name)))
  const absent = Object.keys(rules).filter((name) => !names.includes(name))
  return [...there, ...absent.map((name) => ({ ...typedColumn(name, rules[name]), absent: true as const }))]
}

/** Without a type a cell is its text, and a member of JSON stays as it is. */
function freeColumn(name: string): TypedColumn {
  return { name, read: (cell) => cell, take: (value) => value, refusal: () => 'is not allowed' }
}

/** Whether a column has to be in the table, and each of its cells to have a value. */
export function isRequired(rule: ColumnRule | undefined): boolean {
  return rule !== undefined && (typeof rule === 'string' || rule.required !== false)
}

function typedColumn(name: string, rule: ColumnRule | undefined): TypedColumn {
  const { fits, parse, allowed } = KINDS[(typeof rule === 'string' ? rule : rule?.type) ?? 'text']
  const none = isRequired(rule) ? undefined : null
  const read = (cell: string) => parse(cell) ?? (cell.trim() === '' ? none : undefined)
  return {
    name,
    read,
    take(value) {
      if (value === null) return none
      return typeof value === 'string' ? read(value) : fits(value) ? value : undefined
    },
    refusal(seen) {
      const changed = typeof seen === 'string' && NUMBER.test(seen.trim()) ? inexactNumber(seen.trim()) : undefined
      if (changed !== undefined && parse !== KINDS.text.parse)
        return `${inexactNumberWords(changed)} in a column of texts`
      const empty = seen === null || (typeof seen === 'string' && seen.trim() === '')
      if (empty) return `it is empty; allowed is ${allowed}, or the column is declared with required: false`
      return `${describeValue(seen)} is not allowed; allowed is ${allowed}`
    },
  }
}

interface Kind {
  fits(value: Json): boolean
  parse(text: string): Json | undefined
  readonly allowed: string
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/

/** Spaces around anything but a text do not count. */
const KINDS: Readonly<Record<ColumnType, Kind>> = {
  text: { fits: () => false, parse: (text) => text, allowed: 'a text' },
  number: {
    fits: (value) => typeof value === 'number',
    parse: (text) => numberOf(text.trim()),
    allowed: 'a number with a decimal point, as -3.14 or 2e6',
  },
  integer: {
    fits: (value) => Number.isSafeInteger(value),
    parse: (text) => (/^[+-]?\d+$/.test(text.trim()) ? numberOf(text.trim()) : undefined),
    allowed: 'a whole number in digits, as -12',
  },
  boolean: {
    fits: (value) => typeof value === 'boolean',
    parse: (text) => BOOLEANS[text.trim().toLowerCase()],
    allowed: 'true or false, in small or capital letters',
  },
  date: {
    fits: () => false,
    parse: (text) => (isDate(text.trim()) ? text.trim() : undefined),
    allowed: 'a day or moment that exists, as 2026-11-30 or 2026-11-30T14:05:00Z',
  },
}

const BOOLEANS: Readonly<Record<string, boolean | undefined>> = Object.assign(Object.create(null), {
  true: true,
  false: false,
})

function numberOf(text: string): number | undefined {
  if (!NUMBER.test(text) || inexactNumber(text) !== undefined) return undefined
  const number = Number(text)
  // No JSON has a zero below zero.
  return Number.isFinite(number) ? number + 0 : undefined
}

const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/

/** ISO 8601; the day has to be in its month. */
function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined || month < 1 || month > 12) return false
  return day >= 1 && day <= daysOf(year, month)
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}
