import {
  type AttributeValue,
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb'
import { emulatedAws } from '../emulators/aws-client.ts'
import { readUnits, writeUnits } from '../faults/item-store/billed.ts'
import { bytesOfMap } from '../faults/item-store/kinds.ts'

type Item = Readonly<Record<string, AttributeValue>>

export interface TableUnits {
  readonly wcu: number
  readonly rcu: number
}

/**
 * Reckons what AWS bills for a request to the table, from the items that lie there: of a write the larger of the item
 * before and after with each index entry it changes, refused writes too; of a read the whole items, whatever it projects.
 * `begin` before the request, what it answers afterwards.
 */
export function openTableMeter(endpoint: string) {
  const client = new DynamoDBClient(emulatedAws(endpoint))
  const itemAt = async (TableName: string, Key: Item): Promise<Item | undefined> =>
    (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item

  const written = async (table: string, keys: readonly Item[]) => {
    const before = await Promise.all(keys.map((key) => itemAt(table, key)))
    return async (refused: boolean): Promise<TableUnits> => {
      const after = refused ? before : await Promise.all(keys.map((key) => itemAt(table, key)))
      return { wcu: before.reduce((sum, was, i) => sum + writeUnits(was, after[i]), 0), rcu: 0 }
    }
  }
  const read = (rcu: number) => async (): Promise<TableUnits> => ({ wcu: 0, rcu })

  return {
    async begin(operation: string, input: unknown): Promise<(refused: boolean) => Promise<TableUnits>> {
      const request = input as Request
      const { TableName = '', Key = {}, Item = {}, ConsistentRead, RequestItems = {} } = request
      const [[table, batch] = ['', []]] = Object.entries(RequestItems)
      switch (operation) {
        case 'PutItem':
          return written(TableName, [keyOf(Item)])
        case 'UpdateItem':
        case 'DeleteItem':
          return written(TableName, [Key])
        case 'BatchWriteItem':
          return written(table, (batch as readonly Written[]).map(keyWritten))
        case 'GetItem':
          return read(unitsOf(await itemAt(TableName, Key), ConsistentRead))
        case 'BatchGetItem':
          return read(await batchUnits(client, table, batch as Keys))
        case 'Query':
          return read(await queryUnits(client, request))
        default:
          throw new Error(`a request to the table nobody expected: ${operation}`)
      }
    },
    close: () => client.destroy(),
  }
}

interface Keys {
  readonly Keys: Record<string, AttributeValue>[]
  readonly ConsistentRead?: boolean
}
interface Written {
  readonly PutRequest?: { readonly Item: Item }
  readonly DeleteRequest?: { readonly Key: Item }
}
interface Request {
  readonly TableName?: string
  readonly Key?: Record<string, AttributeValue>
  readonly Item?: Item
  readonly ConsistentRead?: boolean
  readonly RequestItems?: Readonly<Record<string, Keys | readonly Written[]>>
}

function keyOf({ pk, sk }: Item): Item {
  if (pk === undefined || sk === undefined) throw new Error('an item without its key')
  return { pk, sk }
}

function keyWritten({ PutRequest, DeleteRequest }: Written): Item {
  return keyOf(PutRequest?.Item ?? DeleteRequest?.Key ?? {})
}

function unitsOf(item: Item | undefined, consistent: boolean | undefined): number {
  return readUnits(item === undefined ? 0 : bytesOfMap(item), consistent)
}

/** Each item is rounded up for itself. */
async function batchUnits(client: DynamoDBClient, table: string, { Keys, ConsistentRead }: Keys): Promise<number> {
  const { Responses = {} } = await client.send(
    new BatchGetItemCommand({ RequestItems: { [table]: { Keys, ConsistentRead } } }),
  )
  const found = Responses[table] ?? []
  const missing = (Keys.length - found.length) * unitsOf(undefined, ConsistentRead)
  return found.reduce((sum, item) => sum + unitsOf(item, ConsistentRead), missing)
}

/** What it goes through is summed and rounded up once: filters and projections save nothing. */
async function queryUnits(client: DynamoDBClient, input: Request): Promise<number> {
  const { FilterExpression: _, ProjectionExpression: __, ...whole } = input as Record<string, unknown>
  const used = JSON.stringify([whole.KeyConditionExpression])
  const kept = (of: unknown) =>
    Object.fromEntries(Object.entries(Object(of)).filter(([name]) => new RegExp(`${name}\\b`).test(used)))
  const names = kept(whole.ExpressionAttributeNames)
  const { Items = [] } = await client.send(
    new QueryCommand({
      ...whole,
      ExpressionAttributeNames: Object.keys(names).length === 0 ? undefined : names,
      ExpressionAttributeValues: kept(whole.ExpressionAttributeValues),
      // It has the members of a query: it was one.
    } as unknown as ConstructorParameters<typeof QueryCommand>[0]),
  )
  return readUnits(
    Items.reduce((sum, item) => sum + bytesOfMap(item), 0),
    input.ConsistentRead,
  )
}
