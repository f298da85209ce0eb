import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { liveOn } from '../../../functions/aws/live.ts'
import { liveSuite } from '../../conformance/live-suite.ts'
import { type DynamodbEmulator, everyDayEmulator } from '../../emulators/dynamodb.ts'

const { name, start } = everyDayEmulator()
let emulator: DynamodbEmulator
beforeAll(async () => {
  const started = await start()
  if (started === undefined) throw new Error(`Cannot start ${name}: it is not installed.`)
  emulator = started
})
afterAll(() => emulator.close())

async function open(clock = lambdaClock) {
  const table = await emulator.createTable()
  const client = new DynamoDBClient(emulator.aws)
  const live = liveOn({ client, table, clock, ids: { random: (bytes: number) => randomBytes(bytes) } })
  return { live, close: async () => client.destroy() }
}

liveSuite(`DynamoDB (${name})`, () => open())

test('what a writer that died left is nothing after a minute', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const { live, close } = await open({ ...lambdaClock, now: () => now })
  const run = { tenant: 'main', run_id: 'run_1' }
  live.speak(run, { lane: '0', block_id: 'write', epoch: 0, attempt: 1, question: 0 }).add('I was')
  while ((await live.heard(run)).length === 0) await lambdaClock.delay(10)
  now += 61_000
  expect(await live.heard(run)).toEqual([])
  await close()
})
