import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { openHealth } from '../../../functions/aws/health.ts'
import { type DynamodbEmulator, startDynalite } from '../../emulators/dynamodb.ts'

let emulator: DynamodbEmulator
beforeAll(async () => {
  emulator = await startDynalite()
})
afterAll(() => emulator.close())

const healthOf = (TABLE: string) =>
  openHealth(
    {
      env: { STAGE: 'dev', AWS_REGION: 'eu-central-1', SLUICE_LOG: 'info', functions: {}, TABLE },
      clock: lambdaClock,
      ids: { random: (n) => randomBytes(n), boot: 'b' },
    },
    emulator.aws,
  )

test('a deployment that is well says what was tried, and names what was not', async () => {
  const { parts } = await healthOf(await emulator.createTable()).look()
  expect(parts).toEqual({
    reads: { state: 'ok', checked: 'an item of the table was read; objects in the bucket were not' },
    writes: { state: 'ok', checked: 'an item was written to the table; objects in the bucket were not' },
    machine: { state: 'unchecked', checked: 'nothing', why: expect.stringContaining('alarms') },
    isolates: { state: 'unchecked', checked: 'nothing', why: expect.any(String) },
  })
})

test('one without its table fails both, and says of what', async () => {
  const { parts } = await healthOf('sluice-nowhere').look()
  expect([parts.reads.state, parts.writes.state]).toEqual(['failed', 'failed'])
  expect(parts.reads.why).toEqual(expect.any(String))
})
