import { randomBytes } from 'node:crypto'
import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import type { Clock } from '../../../shared/ports/host.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { at, time } from '../../conformance/run-store-fixture.ts'
import type { DynamodbEmulator } from '../../emulators/dynamodb.ts'

export type StoredItem = Record<string, AttributeValue>

/** A store on a table of an emulator, and the table past the store. */
export interface DynamodbPlace {
  readonly store: RunStore
  /** Of `store`: a test may put its own middleware here. */
  readonly client: DynamoDBClient
  /** The same table through a client of its own. */
  another(): RunStore
  item(run: RunKey, sk: string): Promise<StoredItem | undefined>
  /** Items of the run whose sort key starts so. */
  items(run: RunKey, prefix: string): Promise<readonly StoredItem[]>
  index(name: string, hash: string, is: string): Promise<readonly StoredItem[]>
  /** Puts a HEAD of so many blocks there, each with a lane after its first attempt, as many of them running. */
  widen(run: RunKey, blocks: number, running: number): Promise<void>
  /** Opens the items of a foreach block and gives the first so many of them a lane after their first attempt. */
  widenItems(run: RunKey, block: number, items: number): Promise<void>
  close(): void
}

interface Chosen {
  readonly delay: Clock['delay']
  readonly retention_days: number
}

/** The clock of the fixture's runs; delays are real unless `delay` says otherwise. */
export async function openPlace(
  emulator: DynamodbEmulator,
  { delay = lambdaClock.delay, retention_days = 0 }: Partial<Chosen> = {},
): Promise<DynamodbPlace> {
  const table = await emulator.createTable()
  const clock = { now: () => Date.parse(time(1_000_000)), delay }
  const ids = { random: (bytes: number) => randomBytes(bytes) }
  const client = new DynamoDBClient(emulator.aws)
  const plain = new DynamoDBClient(emulator.aws)
  const pkOf = (run: RunKey) => ({ S: `T#${run.tenant}#R#${run.run_id}` })
  return {
    store: runStoreOn({ client, table, clock, ids, retention_days }),
    client,
    another: () => runStoreOn({ client: plain, table, clock, ids }),
    async item(run, sk) {
      const key = { pk: pkOf(run), sk: { S: sk } }
      return (await plain.send(new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item
    },
    async items(run, prefix) {
      const query = new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': pkOf(run), ':prefix': { S: prefix } },
      })
      return (await plain.send(query)).Items ?? []
    },
    async index(IndexName, hash, is) {
      const query = new QueryCommand({
        TableName: table,
        IndexName,
        KeyConditionExpression: '#hash = :is',
        ExpressionAttributeNames: { '#hash': hash },
        ExpressionAttributeValues: { ':is': { S: is } },
      })
      return (await plain.send(query)).Items ?? []
    },
    async widen(run, blocks, running) {
      const names = Array.from({ length: blocks }, (_, i) => String(i))
      const lanes = Object.fromEntries(names.map((name) => [name, { N: String(at(1, 90)) }]))
      const update = {
        UpdateExpression: running > 0 ? 'SET lanes = :lanes, running = :running' : 'SET lanes = :lanes',
        ExpressionAttributeValues: {
          ':lanes': { M: lanes },
          ...(running > 0 ? { ':running': { SS: names.slice(0, running) } } : {}),
        },
      }
      await plain.send(
        new UpdateItemCommand({ TableName: table, Key: { pk: pkOf(run), sk: { S: 'HEAD' } }, ...update }),
      )
    },
    async widenItems(run, block, items) {
      const lanes = Array.from({ length: items }, (_, i) => [i, { N: String(at(1, 90)) }])
      const update = {
        UpdateExpression: 'SET #items = :items, lanes.#block = :open',
        ExpressionAttributeNames: { '#items': 'items', '#block': String(block) },
        ExpressionAttributeValues: {
          ':items': { M: { [block]: { M: Object.fromEntries(lanes) } } },
          ':open': { N: String(at(1, 10)) },
        },
      }
      await plain.send(
        new UpdateItemCommand({ TableName: table, Key: { pk: pkOf(run), sk: { S: 'HEAD' } }, ...update }),
      )
    },
    close() {
      client.destroy()
      plain.destroy()
    },
  }
}

/** Bytes DynamoDB counts: names and values, about half a byte a digit, 3 and 1 more a list or map and its members. */
export function sizeOf(item: StoredItem): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOfValue(value), 0)
}

function sizeOfValue({ S, N, B, NULL, SS, NS, L, M }: AttributeValue): number {
  if (B !== undefined) return B.length
  if (NULL !== undefined) return 1
  if (M !== undefined) return 3 + Object.keys(M).length + sizeOf(M)
  if (L !== undefined) return L.reduce((sum, value) => sum + 1 + sizeOfValue(value), 3)
  if (N !== undefined) return Math.ceil(N.length / 2) + 1
  return [S ?? '', ...(SS ?? []), ...(NS ?? [])].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
