import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { runStoreOn } from '../../../functions/aws/run-store/open-run-store.ts'
import { systemClock } from '../../../infra/local/clock.ts'
import { createWaker } from '../../../infra/local/waker.ts'
import { type DynamodbEmulator, startDynalite, startDynoxide } from '../../emulators/dynamodb.ts'
import { openTestPlace } from '../test-place.ts'
import { PROBE } from './places-suite.ts'
import { type OpenSafe, SILENT } from './safety-place.ts'

/** Places whose runs lie in tables of one emulator; all else of them is local. */
export async function startDynamodbPlaces(): Promise<{ readonly open: OpenSafe; close(): Promise<void> }> {
  const emulator: DynamodbEmulator = (await startDynoxide()) ?? (await startDynalite())
  const clients: DynamoDBClient[] = []
  return {
    async open(safety, more = {}) {
      const test = await openTestPlace({ providers: PROBE, log: SILENT, ...more }, { safety })
      const client = new DynamoDBClient(emulator.aws)
      clients.push(client)
      const ids = { random: (bytes: number) => randomBytes(bytes) }
      const store = runStoreOn({ client, table: await emulator.createTable(), clock: systemClock, ids })
      Object.assign(test.place.world, createWaker(store, systemClock))
      return test
    },
    async close() {
      for (const client of clients) client.destroy()
      await emulator.close()
    },
  }
}
