import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, describe } from 'vitest'
import { lambdaClock } from '../../../functions/aws/clock.ts'
import { runStoreOn } from '../../../functions/aws/run-store/open-run-store.ts'
import { time } from '../../conformance/run-store-fixture.ts'
import { runStoreSuite } from '../../conformance/run-store-suite.ts'
import { type DynamodbEmulator, startDynalite, startDynoxide } from '../../emulators/dynamodb.ts'

const dynaliteEmulator = await startDynalite()
const dynoxideEmulator = await startDynoxide()

admit('DynamoDB (dynalite)', dynaliteEmulator)
if (dynoxideEmulator === undefined) {
  console.log('DynamoDB (dynoxide): skipped, its optional package is not installed for this platform')
} else {
  admit('DynamoDB (dynoxide)', dynoxideEmulator)
}

/** The port's suite over the wire, one table a test. */
function admit(name: string, emulator: DynamodbEmulator): void {
  describe(name, () => {
    afterAll(() => emulator.close())
    runStoreSuite(name, async () => {
      const table = await emulator.createTable()
      const open = () => {
        const client = new DynamoDBClient(emulator.aws)
        const clock = { now: () => Date.parse(time(1_000_000)), delay: lambdaClock.delay }
        return { client, store: runStoreOn({ client, table, clock, ids: { random: (bytes) => randomBytes(bytes) } }) }
      }
      let opened = open()
      return {
        store: opened.store,
        async reopen() {
          opened.client.destroy()
          opened = open()
          return opened.store
        },
        close: async () => opened.client.destroy(),
      }
    })
  })
}
