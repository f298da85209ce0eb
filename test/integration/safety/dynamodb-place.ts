import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import { createWaker } from '../../../infra/local/waker.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { openTestPlace } from '../test-place.ts'
import { type OpenSafe, probe, SILENT } from './safety-place.ts'

/** Places whose runs lie in tables of one emulator; all else of them is local. */
export async function startDynamodbPlaces(): Promise<{ readonly open: OpenSafe; close(): Promise<void> }> {
  const emulator: DynamodbEmulator = await startDynamodb()
  const clients: DynamoDBClient[] = []
  return {
    async open(safety, more = {}) {
      const test = await openTestPlace({ providers: probe(more.clock), log: SILENT, ...more }, { safety })
      const client = new DynamoDBClient(emulator.aws)
      clients.push(client)
      const ids = { random: (bytes: number) => randomBytes(bytes) }
      const clock = more.clock ?? systemClock
      const store = runStoreOn({ client, table: await emulator.createTable(), clock, ids })
      Object.assign(test.place.world, createWaker(store, clock))
      return test
    },
    async close() {
      for (const client of clients) client.destroy()
      await emulator.close()
    },
  }
}
