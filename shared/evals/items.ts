import { Fault } from '../errors.ts'
import { SEPARATORS, separatorSign } from '../table/delimited-text.ts'
import { readRows } from '../table/read-rows.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { listed, quoted } from '../text/wording.ts'
import { EVAL_LIMITS, type Evaluation, type Expect } from './eval-file.ts'

/** One item of a data set: what it is called, and what it holds. */
export interface Item {
  readonly id: string
  readonly values: Readonly<Record<string, Json>>
  /** Of values and of what is expected of this item alone: an item with another one is another item. */
  readonly sha256: string
  readonly expect: readonly Expect[]
}

/** The rows of a table as items. `file` is for messages. Faults InvalidInput bad_eval_data. */
export function tableItems(text: string, file: string, data: Evaluation['data']): readonly Item[] {
  const separator = data.separator === undefined ? undefined : separatorSign(data.separator)
  const read = readRows(text, { format: data.format ?? formatOf(file), ...(separator && { separator }) })
  if ('problem' in read) throw badData(file, `${read.problem} [${read.code}]`)
  const column = data.id
  if (column !== undefined && !read.columns.includes(column))
    throw badData(file, `it has no column ${quoted(column)} (data.id); it has ${listed(read.columns)}`)
  return named(
    read.rows.map((values, at) => ({
      id: column === undefined ? String(at + 1) : idOf(values[column], at, file),
      values,
    })),
    file,
    data,
  )
}

/** Items written in the evaluation itself. */
export function writtenItems(file: string, data: Evaluation['data']): readonly Item[] {
  const items = (data.items ?? []).map(({ id, values, expect }, at) => ({
    id: id ?? (data.id === undefined ? String(at + 1) : idOf(values[data.id], at, file)),
    values,
    expect: expect ?? [],
  }))
  return named(items, file, data)
}

function formatOf(file: string) {
  return /\.tsv$/i.test(file)
    ? 'tsv'
    : /\.csv$/i.test(file)
      ? 'csv'
      : /\.(ndjson|jsonl)$/i.test(file)
        ? 'ndjson'
        : undefined
}

function idOf(value: Json | undefined, at: number, file: string): string {
  if (typeof value === 'number' || (typeof value === 'string' && value.trim() !== ''))
    return String(value).slice(0, 200)
  throw badData(file, `row ${at + 1} has nothing to be named by in the column of data.id`)
}

interface Unnamed extends Pick<Item, 'id' | 'values'> {
  readonly expect?: readonly Expect[]
}

/** With their hashes, the first `limit` of them; no two of one name. */
export function named(
  items: readonly Unnamed[],
  file: string,
  { limit }: Pick<Evaluation['data'], 'limit'>,
): readonly Item[] {
  const taken = items.slice(0, limit)
  if (taken.length === 0) throw badData(file, 'it has no items')
  if (taken.length > EVAL_LIMITS.items)
    throw badData(
      file,
      `it has ${taken.length} items; ${EVAL_LIMITS.items} are allowed, and data.limit takes the first of them`,
    )
  const seen = new Map<string, number>()
  return taken.map(({ id, values, expect = [] }, at) => {
    const before = seen.get(id)
    if (before !== undefined) throw badData(file, `items ${before + 1} and ${at + 1} are both called ${quoted(id)}`)
    seen.set(id, at)
    return { id, values, expect, sha256: sha256(canonicalJson({ values, expect })) }
  })
}

function badData(file: string, problem: string): Fault {
  const message = `Cannot use the data of ${file}: ${problem}. Separators are ${Object.keys(SEPARATORS).join(', ')}; NDJSON is an object a line.`
  return new Fault(
    'InvalidInput',
    'bad_eval_data',
    problem.includes('line') ? message : `Cannot use the data of ${file}: ${problem}.`,
  )
}

/**
 * A value with what an item has in place of `{{item.COLUMN}}`: a text that is one placeholder becomes the value itself,
 * inside of a text other values stand as JSON. Nothing that was put in is looked at again.
 */
export function fillItem(value: Json, item: Item, where: string): Json {
  if (typeof value === 'string') return fillText(value, item, where)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one: Json) => fillItem(one, item, where))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fillItem(one, item, where)]))
}

const PLACEHOLDER = /\{\{\s*item\.([^{}]{1,200}?)\s*\}\}/g
const ONLY = /^\{\{\s*item\.([^{}]{1,200}?)\s*\}\}$/

function fillText(text: string, item: Item, where: string): Json {
  const [, only] = ONLY.exec(text) ?? []
  if (only !== undefined) return columnOf(item, only, where)
  return text.replace(PLACEHOLDER, (_, column: string) => {
    const value = columnOf(item, column, where)
    return typeof value === 'string' ? value : canonicalJson(value)
  })
}

function columnOf({ id, values }: Item, column: string, where: string): Json {
  const value = Object.hasOwn(values, column) ? values[column] : undefined
  if (value !== undefined) return value
  const message = `Cannot fill ${where} of item ${quoted(id)}: it has no column ${quoted(column)}; it has ${listed(Object.keys(values))}.`
  throw new Fault('InvalidInput', 'bad_eval_data', message)
}
