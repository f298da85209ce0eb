import type { BatchGetItemCommandInput, GetItemCommandInput, QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { readUnits } from './billed.ts'
import { parsed, termsOf } from './expressions.ts'
import { bytesOfMap } from './kinds.ts'
import { resolved } from './operands.ts'
import { requireDisjoint } from './paths.ts'
import { project } from './projection.ts'
import { queryRows } from './query.ts'
import { type Item, invalid, refusals } from './refusals.ts'
import { keyOf } from './rows.ts'
import { itemAt, requireOnly, type Table } from './table.ts'

export function getItem(table: Table, input: GetItemCommandInput): object {
  requireOnly(input, ['TableName', 'Key', 'ConsistentRead', 'ProjectionExpression', 'ExpressionAttributeNames'])
  table.requireTable(input.TableName)
  const projection = parsed.projection(input.ProjectionExpression)
  const terms = termsOf(input, [projection])
  const paths = projection?.means.map((path) => resolved(path, terms))
  requireDisjoint(paths ?? [], 'ProjectionExpression')
  const item = itemAt(table, input.Key)
  table.billed(() => ({ operation: 'GetItem', wcu: 0, rcu: readUnits(sizeOf(item), input.ConsistentRead) }))
  if (item === undefined) return {}
  return { Item: paths === undefined ? item : project(item, paths) }
}

export function batchGetItem(table: Table, input: BatchGetItemCommandInput): object {
  requireOnly(input, ['RequestItems'])
  const [first, ...others] = Object.entries(input.RequestItems ?? {})
  if (first === undefined || others.length > 0) throw refusals.unsupported('a batch of none or several tables')
  const [name, wanted] = first
  requireOnly(wanted, ['Keys', 'ConsistentRead'])
  table.requireTable(name)
  const keys = wanted.Keys ?? []
  if (keys.length === 0 || keys.length > MAX_BATCH) throw invalid(`A batch has 1 to ${MAX_BATCH} keys`)
  if (new Set(keys.map((key) => JSON.stringify(keyOf(key)))).size < keys.length) {
    throw invalid('Provided list of item keys contains duplicates')
  }
  const items = keys.map((key) => itemAt(table, key))
  const n = fitting(items)
  const read = items.slice(0, n)
  const unitsOf = (item: Item | undefined) => readUnits(sizeOf(item), wanted.ConsistentRead)
  table.billed(() => ({
    operation: 'BatchGetItem',
    wcu: 0,
    rcu: read.reduce((sum, item) => sum + unitsOf(item), 0),
  }))
  return {
    Responses: { [name]: read.filter((item) => item !== undefined) },
    UnprocessedKeys: n === keys.length ? {} : { [name]: { ...wanted, Keys: keys.slice(n) } },
  }
}

export function query(table: Table, input: QueryCommandInput): object {
  requireOnly(input, QUERY_FIELDS)
  table.requireTable(input.TableName)
  const { items, scanned, last, bytes } = queryRows(table.rows, input)
  table.billed(() => ({ operation: 'Query', wcu: 0, rcu: readUnits(bytes, input.ConsistentRead) }))
  return {
    Items: items,
    Count: items.length,
    ScannedCount: scanned,
    ...(last === undefined ? {} : { LastEvaluatedKey: last }),
  }
}

const MAX_BATCH = 100
const BATCH_BYTES = 16 * 1_048_576

/** How many of the items one answer holds. */
function fitting(items: readonly (Item | undefined)[]): number {
  let bytes = 0
  const full = items.findIndex((item) => {
    bytes += sizeOf(item)
    return bytes > BATCH_BYTES
  })
  return full === -1 ? items.length : full
}

function sizeOf(item: Item | undefined): number {
  return item === undefined ? 0 : bytesOfMap(item)
}

const QUERY_FIELDS = [
  'TableName',
  'IndexName',
  'ConsistentRead',
  'KeyConditionExpression',
  'FilterExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ScanIndexForward',
  'Limit',
  'ExclusiveStartKey',
]
