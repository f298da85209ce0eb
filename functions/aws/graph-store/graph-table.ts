import {
  BatchWriteItemCommand,
  type BatchWriteItemCommandOutput,
  ConditionalCheckFailedException,
  DeleteItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { Edge } from '../../../shared/graph/entity.ts'
import { RUN_INDEXES } from '../../../shared/runs/dynamodb-table.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { as, type Item } from '../run-store/item-encoding.ts'
import {
  createExpressionTerms,
  itemBusyFault,
  openTable,
  type RunTable,
  type RunTableOptions,
  type Terms,
  tableFault,
} from '../run-store/table.ts'

/** The table as the graph uses it: bulk writes of hints, and deletions with a condition. */
export interface GraphTable extends RunTable {
  /** How long what runs leave in the graph is kept: as long as they. */
  readonly retention_days: number
  /** Whole items, in no order; each key once. */
  putAll(items: readonly Item[]): Promise<void>
  /** False: the condition did not hold. `sent`: how often the SDK sent it. */
  removeIf(key: Item, condition: (terms: Terms) => string): Promise<{ readonly ok: boolean; readonly sent: number }>
}

export function openGraphTable(options: RunTableOptions, retention_days: number): GraphTable {
  const table = openTable(options)
  return {
    ...table,
    retention_days,
    async putAll(items) {
      const batches = Array.from({ length: Math.ceil(items.length / MAX_BATCH) }, (_, i) =>
        items.slice(i * MAX_BATCH, (i + 1) * MAX_BATCH),
      )
      for (const batch of batches) await putBatch(options, table, batch)
    },
    async removeIf(key, condition) {
      const terms = createExpressionTerms()
      const remove = new DeleteItemCommand({
        TableName: options.table,
        Key: key,
        ConditionExpression: condition(terms),
        ExpressionAttributeNames: terms.names,
        ...(Object.keys(terms.values).length === 0 ? {} : { ExpressionAttributeValues: terms.values }),
      })
      try {
        const { $metadata } = await options.client.send(remove)
        return { ok: true, sent: $metadata.attempts ?? 1 }
      } catch (cause) {
        if (!(cause instanceof ConditionalCheckFailedException)) throw tableFault(cause, 'DeleteItem')
        return { ok: false, sent: cause.$metadata.attempts ?? 1 }
      }
    },
  }
}

/** DynamoDB takes 25 writes a call and may leave some undone. */
const MAX_BATCH = 25
const MAX_TRIES = 8

async function putBatch(
  { client, table: name }: RunTableOptions,
  { pause }: Pick<RunTable, 'pause'>,
  items: readonly Item[],
): Promise<void> {
  let left = items.map((Item) => ({ PutRequest: { Item } }))
  for (let tries = 0; left.length > 0; tries += 1) {
    if (tries === MAX_TRIES) throw itemBusyFault(`write ${left.length} items`, tries)
    if (tries > 0) await pause(tries)
    const write = new BatchWriteItemCommand({ RequestItems: { [name]: left } })
    const { UnprocessedItems }: BatchWriteItemCommandOutput = await client.send(write).catch((thrown: unknown) => {
      throw tableFault(thrown, 'BatchWriteItem')
    })
    left = (UnprocessedItems?.[name] ?? []).flatMap(({ PutRequest }) =>
      PutRequest?.Item === undefined ? [] : [{ PutRequest: { Item: PutRequest.Item } }],
    )
  }
}

/** The entity: one item, so that it is there whole or not at all. */
export function entityKey(tenant: string, entity_id: string): Item {
  return { pk: as.text(`T#${tenant}#G#${entity_id}`), sk: as.text('ENTITY') }
}

/**
 * That somebody states this of the object: a hint, in the object's partition, so that edges are found from there. The
 * subject's item decides whether it is so.
 */
export function edgeHintKey(tenant: string, { subject, predicate, object }: Edge): Item {
  return { pk: as.text(`T#${tenant}#G#${object}`), sk: as.text(`I#${predicate}#${subject}`) }
}

/** Partitions of the list of a tenant's entities: an import must not fill one. */
export const LIST_SHARDS = '0123456789abcdef'

const RUNS = RUN_INDEXES.runs

/** Where the list of entities has this one: index 1 of the table, in partitions of its own. */
export function entityListKey(tenant: string, entity_id: string): Item {
  const [shard = '0'] = sha256(entity_id)
  return { [RUNS.hash]: as.text(listPartition(tenant, shard)), [RUNS.range]: as.text(entity_id) }
}

export function listPartition(tenant: string, shard: string): string {
  return `T#${tenant}#G#${shard}`
}
