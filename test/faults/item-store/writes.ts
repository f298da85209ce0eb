import type { DeleteItemCommandInput, PutItemCommandInput, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import { writeUnits } from './billed.ts'
import { parsed, termsOf } from './expressions.ts'
import { keptMap } from './kinds.ts'
import { conditionFailed, type Item, refusals } from './refusals.ts'
import { keyOf, requireStorable } from './rows.ts'
import { itemAt, requireOnly, type Table } from './table.ts'

export function putItem(table: Table, input: PutItemCommandInput): object {
  requireOnly(input, ['Item', ...FIELDS])
  table.requireTable(input.TableName)
  const condition = parsed.condition(input.ConditionExpression)
  const terms = termsOf(input, [condition])
  const item = keptMap(input.Item ?? {})
  requireStorable(item, 'Item size has exceeded the maximum allowed size')
  const { pk, sk } = keyOf(item)
  const was = table.rows.get(pk, sk)
  if (condition?.means({ ...terms, item: was ?? {} }) === false) throw refused(table, 'PutItem', input, was)
  return write(table, 'PutItem', was, item)
}

export function updateItem(table: Table, input: UpdateItemCommandInput): object {
  requireOnly(input, ['Key', 'UpdateExpression', 'ReturnValues', ...FIELDS])
  table.requireTable(input.TableName)
  const update = parsed.update(input.UpdateExpression)
  if (update === undefined) throw refusals.unsupported('an update without UpdateExpression')
  const condition = parsed.condition(input.ConditionExpression)
  const terms = termsOf(input, [update, condition])
  const was = itemAt(table, input.Key)
  update.means.check(terms, [RUN_TABLE.hash, RUN_TABLE.range])
  if (condition?.means({ ...terms, item: was ?? {} }) === false) throw refused(table, 'UpdateItem', input, was)
  const item = update.means.apply({ ...terms, item: was ?? keptMap(input.Key ?? {}) })
  requireStorable(item, 'Item size to update has exceeded the maximum allowed size')
  return { ...write(table, 'UpdateItem', was, item), ...returned(input, was, item) }
}

/** Whether or not it is there. */
export function deleteItem(table: Table, input: DeleteItemCommandInput): object {
  requireOnly(input, ['TableName', 'Key'])
  table.requireTable(input.TableName)
  const was = itemAt(table, input.Key)
  table.rows.remove(input.Key?.pk?.S ?? '', input.Key?.sk?.S ?? '')
  table.billed(() => ({ operation: 'DeleteItem', wcu: writeUnits(was, undefined), rcu: 0 }))
  return {}
}

const FIELDS = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
]

function write({ rows, billed }: Table, operation: string, was: Item | undefined, item: Item): object {
  rows.put(item)
  billed(() => ({ operation, wcu: writeUnits(was, item), rcu: 0 }))
  return {}
}

/** A write that is refused is billed as if the item had been written again as it was. */
function refused(
  { billed }: Table,
  operation: string,
  { ReturnValuesOnConditionCheckFailure: shown }: Pick<PutItemCommandInput, 'ReturnValuesOnConditionCheckFailure'>,
  was: Item | undefined,
): Error {
  billed(() => ({ operation: `${operation} refused`, wcu: writeUnits(was, was), rcu: 0 }))
  return conditionFailed(shown === 'ALL_OLD' ? was : undefined)
}

function returned({ ReturnValues: wanted = 'NONE' }: UpdateItemCommandInput, was: Item | undefined, now: Item): object {
  if (wanted === 'ALL_NEW') return { Attributes: now }
  if (wanted === 'NONE') return {}
  if (wanted !== 'ALL_OLD') throw refusals.unsupported(`ReturnValues ${wanted}`)
  return was === undefined ? {} : { Attributes: was }
}
