import { isDeepStrictEqual } from 'node:util'
import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import type { DynamodbEmulator } from '../../../emulators/dynamodb.ts'
import { randomFrom } from '../../../integration/random-runs.ts'
import { createItemStore } from '../create-item-store.ts'
import { mirror, plain } from './mirror.ts'
import type { Quirks } from './quirks.ts'
import { randomOperations } from './random-operations.ts'

/** Operations of one sequence. */
const OPERATIONS = 20
/** Sequences that share a table: the partitions of each are its own, the indexes are everybody's. */
const TOGETHER = 25

/** So many random sequences from seed `first` on, on both; throws at the first difference, naming the seed. */
export async function compareStores(
  emulator: DynamodbEmulator,
  { first, many, quirks }: { readonly first: number; readonly many: number; readonly quirks: Quirks },
): Promise<void> {
  const client = new DynamoDBClient(emulator.aws)
  for (let from = first; from < first + many; from += TOGETHER) {
    const table = await emulator.createTable()
    const store = createItemStore()
    const both = { client: mirror(store, { client, table, quirks }), table, quirks }
    for (let seed = from; seed < Math.min(first + many, from + TOGETHER); seed += 1) {
      await randomOperations({ ...both, own: `${seed}` }, randomFrom(seed), OPERATIONS).catch((cause: unknown) => {
        throw new Error(`Seed ${seed} (of the table from ${from}): ${cause}`, { cause })
      })
    }
    const [mine, theirs] = [inOrder(store.items()), inOrder(await everything(client, table))]
    if (!isDeepStrictEqual(mine, theirs)) throw new Error(`After the seeds from ${from} the tables differ.`)
  }
  client.destroy()
}

async function everything(client: DynamoDBClient, table: string): Promise<readonly Record<string, AttributeValue>[]> {
  const found: Record<string, AttributeValue>[] = []
  let after: Record<string, AttributeValue> | undefined
  do {
    const page = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: after }),
    )
    found.push(...(page.Items ?? []))
    after = page.LastEvaluatedKey
  } while (after !== undefined)
  return found
}

function inOrder(items: readonly object[]): readonly string[] {
  return items.map((item) => JSON.stringify(plain(item))).toSorted()
}
