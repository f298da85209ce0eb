import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { lambdaClock } from '../../../../functions/aws/core.ts'
import { runStoreOn } from '../../../../functions/aws/run-store/run-store.ts'
import { damageItem } from '../../../conformance/run-store-damage.ts'
import { time } from '../../../conformance/run-store-fixture.ts'
import { runStoreSuite } from '../../../conformance/run-store-suite.ts'
import { type DynamodbEmulator, startDynalite } from '../../../emulators/dynamodb.ts'
import { createItemStore } from '../create-item-store.ts'
import { compareStores } from './compare-stores.ts'
import { mirror } from './mirror.ts'
import { QUIRKS } from './quirks.ts'

/** What test/integration/item-store-differential.test.ts does in seconds, in minutes: npm run test:differential. */
const SEQUENCES = 5_000
const A_TEST = 500

describe('the item store and dynalite', () => {
  let emulator: DynamodbEmulator
  beforeAll(async () => {
    emulator = await startDynalite()
  })
  afterAll(() => emulator.close())

  test.each(Array.from({ length: SEQUENCES / A_TEST }, (_, i) => 1 + i * A_TEST))(
    `answer ${A_TEST} random sequences alike, from seed %i`,
    async (first) => {
      await compareStores(emulator, { first, many: A_TEST, quirks: QUIRKS.dynalite })
    },
  )

  runStoreSuite('DynamoDB (item store and dynalite alike)', async () => {
    const table = await emulator.createTable()
    const plain = new DynamoDBClient(emulator.aws)
    const client = mirror(createItemStore(), { client: plain, table, quirks: QUIRKS.dynalite })
    const clock = { now: () => Date.parse(time(1_000_000)), delay: lambdaClock.delay }
    const open = () => runStoreOn({ client, table, clock, ids: { random: (bytes) => randomBytes(bytes) } })
    return {
      store: open(),
      damage: damageItem(client, table),
      reopen: async () => open(),
      close: async () => plain.destroy(),
    }
  })
})
