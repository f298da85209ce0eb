import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import { damageItem } from '../../conformance/run-store-damage.ts'
import { keyOf, newRun, step, time } from '../../conformance/run-store-fixture.ts'
import { type OpenedRunStore, runStoreSuite } from '../../conformance/run-store-suite.ts'
import type { DynamodbEmulator, EmulatorName } from '../../emulators/dynamodb.ts'

/** What the emulators do differently from DynamoDB and from each other, where the store can see it. */
const DIFFERENCES = {
  dynalite: { refusal_carries_item: false },
  dynoxide: { refusal_carries_item: true },
} as const

/** The port's suite over the wire, one table a test. */
export function admitRunStore(name: EmulatorName, start: () => Promise<DynamodbEmulator | undefined>): void {
  describe(name, () => {
    let emulator: DynamodbEmulator
    beforeAll(async () => {
      const started = await start()
      if (started === undefined) throw new Error(`Cannot start ${name}: it is not installed.`)
      emulator = started
    })
    afterAll(() => emulator.close())

    const opening = async (): Promise<OpenedRunStore> => {
      const table = await emulator.createTable()
      let opened = open(emulator, table)
      return {
        store: opened.store,
        damage: (run, damage) => damageItem(opened.client, table)(run, damage),
        async reopen() {
          opened.client.destroy()
          opened = open(emulator, table)
          return opened.store
        },
        close: async () => opened.client.destroy(),
      }
    }
    // The rest is proven every day on SQLite, and of the adapter on the item store (test/integration/item-store.test.ts).
    runStoreSuite(`DynamoDB (${name})`, opening, ['thorough'])

    test('a refused append reads HEAD only where the refusal does not carry it', async () => {
      const { client, store } = open(emulator, await emulator.createTable())
      await store.create(newRun(1))
      await store.append(step(keyOf(newRun(1).meta), '0', 10))
      const sent: string[] = []
      client.middlewareStack.add(
        (next, { commandName = '' }) =>
          (args) => {
            sent.push(commandName)
            return next(args)
          },
        { step: 'initialize' },
      )
      await store.append(step(keyOf(newRun(1).meta), '0', 10))
      const more = DIFFERENCES[name].refusal_carries_item ? [] : ['GetItemCommand']
      expect(sent).toEqual(['UpdateItemCommand', ...more])
      client.destroy()
    })
  })
}

function open(emulator: DynamodbEmulator, table: string) {
  const client = new DynamoDBClient(emulator.aws)
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        requireHouseRules(commandName, args.input)
        return next(args)
      },
    { step: 'initialize' },
  )
  const clock = { now: () => Date.parse(time(1_000_000)), delay: lambdaClock.delay }
  return { client, store: runStoreOn({ client, table, clock, ids: { random: (bytes) => randomBytes(bytes) } }) }
}

const COMMANDS = /^(GetItem|BatchGetItem|Query|PutItem|UpdateItem|DeleteItem)Command$/
const WORDS =
  /\b(SET|REMOVE|ADD|DELETE|AND|OR|NOT|BETWEEN|size|contains|begins_with|list_append|if_not_exists|attribute_exists|attribute_not_exists)\b/g

/** Reads that may be behind: of an index, and of the STOP item. */
const MAY_BE_BEHIND = /"IndexName"|"sk":{"S":"STOP(#\d+)?"}/

/** No scans, no transactions; reads are consistent; every name an alias, every value a parameter. */
function requireHouseRules(command: string, input: object): void {
  expect(command).toMatch(COMMANDS)
  const text = JSON.stringify(input)
  if (/Get|Query/.test(command) && !MAY_BE_BEHIND.test(text)) expect(text).toContain('"ConsistentRead":true')
  for (const [name, value] of Object.entries(input)) {
    if (!name.endsWith('Expression') || typeof value !== 'string') continue
    expect(value.replace(WORDS, '')).toMatch(/^([#:]\d+(\[\d+\])?|[\s.,()<>=+])*$/)
    expect(value.length).toBeLessThanOrEqual(4_096)
  }
}
