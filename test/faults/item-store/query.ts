import type { AttributeValue, QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { RUN_TABLE, type TableIndex } from '../../../shared/runs/dynamodb-table.ts'
import { parsed, termsOf } from './expressions.ts'
import { bytesOfMap } from './kinds.ts'
import { resolved, type Scope } from './operands.ts'
import { type Item, invalid } from './refusals.ts'
import { compareRows, firstWhere, keyOf, type Row, type Rows } from './rows.ts'

export interface Page {
  readonly items: readonly Item[]
  readonly scanned: number
  readonly last: Item | undefined
  /** Bytes read. */
  readonly bytes: number
}

/** One page: at most `Limit` items or 1 MB, whichever comes first, counted before the filter. */
export function queryRows(rows: Rows, input: QueryCommandInput): Page {
  const index = indexOf(input)
  const keys = index ?? RUN_TABLE
  const [condition, filter] = [parsed.keys(input.KeyConditionExpression), parsed.filter(input.FilterExpression)]
  if (condition === undefined) {
    throw invalid('Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.')
  }
  const scope: Scope = { item: {}, ...termsOf(input, [condition, filter]) }
  const { hash, place } = condition.means(scope, keys)
  for (const path of filter?.means.paths ?? []) forbidKey(String(resolved(path, scope)[0]), keys)
  const found = wanted(rows.partition(hash, index?.name), place, input, index)
  const page = cut(found, input.Limit, index)
  const last = page.more ? page.rows.at(-1) : undefined
  return {
    items: page.rows
      .map((row) => shown(row.item, index))
      .filter((item) => filter === undefined || filter.means.condition({ ...scope, item })),
    scanned: page.rows.length,
    last: last && keysOf(last.item, index),
    bytes: page.bytes,
  }
}

function indexOf({ IndexName, ConsistentRead }: QueryCommandInput): TableIndex | undefined {
  if (IndexName === undefined) return undefined
  const index = RUN_TABLE.indexes.find(({ name }) => name === IndexName)
  if (index === undefined) throw invalid(`The table does not have the specified index: ${IndexName}`)
  if (ConsistentRead === true) {
    throw invalid('Consistent reads are not supported on global secondary indexes')
  }
  return index
}

function forbidKey(name: string, keys: { readonly hash: string; readonly range: string }): void {
  if (name !== keys.hash && name !== keys.range) return
  const message = `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${name}`
  throw invalid(message)
}

/** The rows in the range, in the order asked for, after the start key. */
function wanted(
  partition: readonly Row[],
  place: (range: string) => number,
  { ExclusiveStartKey: start, ScanIndexForward: forward }: QueryCommandInput,
  index: TableIndex | undefined,
): readonly Row[] {
  let from = firstWhere(partition, (row) => place(row.range) >= 0)
  let to = firstWhere(partition, (row) => place(row.range) > 0)
  if (start !== undefined) {
    const after = startRow(start, index)
    if (place(after.range) !== 0) throw invalid('The provided starting key does not match the range key predicate')
    if (forward === false)
      to = Math.min(
        to,
        firstWhere(partition, (row) => compareRows(row, after) >= 0),
      )
    else
      from = Math.max(
        from,
        firstWhere(partition, (row) => compareRows(row, after) > 0),
      )
  }
  const found = partition.slice(from, Math.max(from, to))
  return forward === false ? found.reverse() : found
}

function startRow(start: Item, index: TableIndex | undefined): Pick<Row, 'range' | 'pk' | 'sk'> {
  const names = [RUN_TABLE.hash, RUN_TABLE.range, ...(index === undefined ? [] : [index.hash, index.range])]
  if (Object.keys(start).length !== names.length || names.some((name) => start[name]?.S === undefined)) {
    throw invalid('The provided starting key is invalid')
  }
  return { range: start[(index ?? RUN_TABLE).range]?.S ?? '', ...keyOf(start) }
}

const PAGE_BYTES = 1_048_576

function cut(rows: readonly Row[], limit: number | undefined, index: TableIndex | undefined) {
  if (limit !== undefined && limit < 1) throw invalid('Limit must be greater than or equal to 1')
  let bytes = 0
  let n = 0
  while (n < rows.length && n < (limit ?? Number.POSITIVE_INFINITY) && bytes < PAGE_BYTES) {
    bytes += bytesOfMap(shown(rows[n]?.item ?? {}, index))
    n += 1
  }
  // DynamoDB names the last key also where nothing follows: it has not looked.
  return { rows: rows.slice(0, n), bytes, more: n > 0 && (n === limit || bytes >= PAGE_BYTES) }
}

/** What an index has of an item: keys, and what it includes. */
function shown(item: Item, index: TableIndex | undefined): Item {
  return index === undefined ? item : only(item, [...keyNames(index), ...index.include])
}

function keysOf(item: Item, index: TableIndex | undefined): Item {
  return only(item, keyNames(index))
}

function keyNames(index: TableIndex | undefined): readonly string[] {
  const own = [RUN_TABLE.hash, RUN_TABLE.range]
  return index === undefined ? own : [...own, index.hash, index.range]
}

function only(item: Item, names: readonly string[]): Item {
  const part: Record<string, AttributeValue> = {}
  for (const name of names) {
    const value = item[name]
    if (value !== undefined) part[name] = value
  }
  return part
}
