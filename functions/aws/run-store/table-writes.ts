import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { RUN_TABLE } from '../../../shared/runs/table.ts'
import type { Item } from './attribute-values.ts'
import { tableFault } from './table-fault.ts'
import { createTerms, type Terms } from './terms.ts'

export interface Change {
  readonly update: string
  readonly condition?: string
}

/**
 * What a conditional write came to. `item`: the whole item after it; or, where the condition failed, as it was (DynamoDB
 * answers it with the refusal; dynalite does not). `sent`: how often the SDK sent it: past 1 an earlier sending may have
 * been applied although its answer was lost.
 */
export type Written =
  | { readonly ok: true; readonly item: Item }
  | { readonly ok: false; readonly item: Item | undefined; readonly sent: number }

export interface TableWrites {
  /** The whole item; `unless` continues a condition. */
  put(item: Item, unless?: (terms: Terms) => string): Promise<Written>
  update(key: Item, change: (terms: Terms) => Change): Promise<Written>
  /** Whether or not it is there. */
  remove(key: Item): Promise<void>
}

interface Target {
  readonly client: Pick<DynamoDBClient, 'send'>
  readonly table: string
}

export function writesOf({ client, table }: Target): TableWrites {
  return {
    async put(item, condition) {
      const terms = createTerms()
      const put = new PutItemCommand({
        TableName: table,
        Item: item,
        ...(condition === undefined ? {} : { ConditionExpression: condition(terms), ...REFUSED }),
        ...used(terms),
      })
      return written(
        'PutItem',
        client.send(put).then(() => ({ ok: true, item })),
      )
    },
    async update(key, change) {
      const terms = createTerms()
      const { update, condition } = change(terms)
      const command = new UpdateItemCommand({
        TableName: table,
        Key: key,
        UpdateExpression: update,
        ...(condition === undefined ? {} : { ConditionExpression: condition, ...REFUSED }),
        ...used(terms),
        ReturnValues: 'ALL_NEW',
      })
      return written(
        'UpdateItem',
        client.send(command).then(({ Attributes = {} }) => ({ ok: true, item: Attributes })),
      )
    },
    async remove(key) {
      const remove = new DeleteItemCommand({ TableName: table, Key: key })
      await written(
        'DeleteItem',
        client.send(remove).then(() => ({ ok: true, item: key })),
      )
    },
  }
}

/** The condition of an item that is written once. */
export function ifAbsent(terms: Terms): string {
  return `attribute_not_exists(${terms.path(RUN_TABLE.hash)})`
}

const REFUSED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

/** DynamoDB refuses empty maps of names and values. */
function used({ names, values }: Terms) {
  return {
    ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
  }
}

async function written(operation: string, answer: Promise<Written>): Promise<Written> {
  try {
    return await answer
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException)) throw tableFault(cause, operation)
    return { ok: false, item: cause.Item, sent: cause.$metadata.attempts ?? 1 }
  }
}
