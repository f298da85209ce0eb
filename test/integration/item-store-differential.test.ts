import { DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DynamodbEmulator, everyDayEmulator } from '../emulators/dynamodb.ts'
import { createItemStore } from '../faults/item-store/create-item-store.ts'
import { compareStores } from '../faults/item-store/differential/compare-stores.ts'
import { ODD_UPDATES, type OddUpdate, QUIRKS } from '../faults/item-store/differential/quirks.ts'
import { atMost } from '../how-much.ts'

/** The item store of the fault simulation against a table over the wire; more seeds, and dynalite: npm run test:differential. */
const SEQUENCES = atMost(75, 8)
const { name, start } = everyDayEmulator()

describe(`the item store and ${name}`, () => {
  let emulator: DynamodbEmulator
  beforeAll(async () => {
    const started = await start()
    if (started === undefined) throw new Error(`Cannot start ${name}: it is not installed.`)
    emulator = started
  })
  afterAll(() => emulator.close())

  test(`answer ${SEQUENCES} random sequences alike`, async () => {
    await compareStores(emulator, { first: 1, many: SEQUENCES, quirks: QUIRKS[name] })
  })

  test.each(ODD_UPDATES)('answer as noted: $what', async (odd) => {
    const client = new DynamoDBClient(emulator.aws)
    expect(await left(client, await emulator.createTable(), odd)).toEqual(odd[name] ?? odd.item_store)
    client.destroy()
  })
})

describe('the item store', () => {
  test.each(ODD_UPDATES)('as DynamoDB: $what', async (odd) => {
    expect(await left(createItemStore().client, 'runs', odd)).toEqual(odd.item_store)
  })
})

async function left(client: Pick<DynamoDBClient, 'send'>, TableName: string, { item, update }: OddUpdate) {
  const Key = { pk: { S: 'a' }, sk: { S: 'b' } }
  await client.send(new PutItemCommand({ TableName, Item: { ...item, ...Key } }))
  try {
    await client.send(new UpdateItemCommand({ TableName, Key, ...update }))
  } catch (error) {
    return { error: error instanceof Error ? error.name : error }
  }
  const { Item: { pk, sk, ...after } = {} } = await client.send(
    new GetItemCommand({ TableName, Key, ConsistentRead: true }),
  )
  return { item: after }
}
