import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, test } from 'vitest'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import { createWaker } from '../../../infra/local/waker.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { atMost } from '../../how-much.ts'
import { openTestPlace } from '../test-place.ts'
import { budgetsHold, type OpenBudgets } from './random-budgets.ts'
import { PRICED, watched } from './watched-place.ts'

let emulator: DynamodbEmulator
let client: DynamoDBClient
beforeAll(async () => {
  emulator = await startDynamodb()
  client = new DynamoDBClient(emulator.aws)
})
afterAll(async () => {
  client.destroy()
  await emulator.close()
})

const open: OpenBudgets = async (paid, watch) => {
  const place = await openTestPlace({ providers: { paid } }, PRICED)
  const ids = { random: (bytes: number) => randomBytes(bytes) }
  const store = runStoreOn({ client, table: await emulator.createTable(), clock: systemClock, ids })
  const waking = createWaker(store, systemClock)
  Object.assign(place.place.world, waking)
  return watched(place, waking.runs, watch)
}

test('budgets hold on DynamoDB, whatever documents and providers do', { tags: ['thorough'], timeout: 180_000 }, () =>
  budgetsHold(open, atMost(15, 4)),
)
