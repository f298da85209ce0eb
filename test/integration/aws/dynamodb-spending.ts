import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { spendingOn } from '../../../functions/aws/spending.ts'
import { spendingSuite } from '../../conformance/spending-suite.ts'
import type { DynamodbEmulator, EmulatorName } from '../../emulators/dynamodb.ts'

/** The port's suite over the wire, one table a test. */
export function admitSpending(name: EmulatorName, start: () => Promise<DynamodbEmulator | undefined>): void {
  describe(name, () => {
    let emulator: DynamodbEmulator
    beforeAll(async () => {
      const started = await start()
      if (started === undefined) throw new Error(`Cannot start ${name}: it is not installed.`)
      emulator = started
    })
    afterAll(() => emulator.close())

    spendingSuite(`DynamoDB (${name})`, async () => {
      const table = await emulator.createTable()
      const client = new DynamoDBClient(emulator.aws)
      const ids = { random: (bytes: number) => randomBytes(bytes) }
      const spending = spendingOn({ client, table, clock: lambdaClock, ids })
      return { spending, close: async () => client.destroy() }
    })
  })
}
