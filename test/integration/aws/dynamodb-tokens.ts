import { randomBytes } from 'node:crypto'
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { tokensOn } from '../../../functions/aws/tokens.ts'
import { NOW, tokensSuite } from '../../conformance/tokens-suite.ts'
import type { DynamodbEmulator, EmulatorName } from '../../emulators/dynamodb.ts'

/** The port's suite over the wire, one table a test. */
export function admitTokens(name: EmulatorName, start: () => Promise<DynamodbEmulator | undefined>): void {
  describe(name, () => {
    let emulator: DynamodbEmulator
    beforeAll(async () => {
      const started = await start()
      if (started === undefined) throw new Error(`Cannot start ${name}: it is not installed.`)
      emulator = started
    })
    afterAll(() => emulator.close())

    tokensSuite(`DynamoDB (${name})`, async () => {
      const { client, tokens } = await open(emulator)
      return { tokens, close: async () => client.destroy() }
    })

    test('all lie in one partition, leave the table 400 days after they expired, and hold no secret', async () => {
      const { client, table, tokens } = await open(emulator)
      const id = '0123456789abcdef'
      await tokens.put({
        ...{ tenant: 'main', id, secret_sha256: 'ab'.repeat(32), name: 'n', scopes: ['runs:read'] },
        ...{ created_at: new Date(NOW).toISOString(), created_by: 'user:ana', expires_at: new Date(NOW).toISOString() },
      })
      const Key = { pk: { S: 'TOKENS' }, sk: { S: `TOKEN#${id}` } }
      const { Item } = await client.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }))
      expect(Item?.ttl?.N).toBe(String(NOW / 1_000 + 400 * 86_400))
      expect(Object.keys(Item ?? {}).sort()).toEqual(['pk', 'sk', 'tenant', 'token', 'ttl'])
      client.destroy()
    })
  })
}

async function open(emulator: DynamodbEmulator) {
  const table = await emulator.createTable()
  const client = new DynamoDBClient(emulator.aws)
  const ids = { random: (bytes: number) => randomBytes(bytes) }
  return { client, table, tokens: tokensOn({ client, table, clock: lambdaClock, ids }) }
}
