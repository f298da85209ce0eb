import { randomBytes } from 'node:crypto'
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { graphStoreOn } from '../../../functions/aws/graph-store/graph-store.ts'
import { entityKey } from '../../../functions/aws/graph-store/graph-table.ts'
import { loopEntityId } from '../../../shared/research/loop-entity.ts'
import { AT, idOf, place } from '../../conformance/graph-fixture.ts'
import { graphStoreSuite } from '../../conformance/graph-store-suite.ts'
import type { DynamodbEmulator, EmulatorName } from '../../emulators/dynamodb.ts'
import { atMost } from '../../how-much.ts'

/** The port's suite over the wire, one table a test. */
export function admitGraphStore(name: EmulatorName, start: () => Promise<DynamodbEmulator | undefined>): void {
  describe(name, () => {
    let emulator: DynamodbEmulator
    beforeAll(async () => {
      const started = await start()
      if (started === undefined) throw new Error(`Cannot start ${name}: it is not installed.`)
      emulator = started
    })
    afterAll(() => emulator.close())

    graphStoreSuite(`DynamoDB (${name})`, async () => {
      const { client, store } = open(emulator, await emulator.createTable())
      return { store, runs: atMost(6, 2), close: async () => client.destroy() }
    })

    test('a writer who dies after any of its calls leaves no edge unseen, none too many, and is followed by the index', async () => {
      let calls = 0
      while (!(await survives(emulator, calls))) calls += 1
      expect(calls).toBeGreaterThan(5)
    })

    test('what a chain wrote of itself ends as its run does, what was put does not', async () => {
      const table = await emulator.createTable()
      const { client, store } = open(emulator, table)
      const loop = loopEntityId('main', 'run_1')
      await store.put('main', [place('a')])
      const told = { predicate: 'research.topic', object: 'T', source: 's', confidence: 1, rule_opaque: false }
      await store.addTriples('main', [{ subject: loop, timestamp: AT, ...told }])
      const ttlOf = async (entity_id: string) => {
        const { Item } = await client.send(
          new GetItemCommand({ TableName: table, Key: entityKey('main', entity_id), ConsistentRead: true }),
        )
        return Item?.ttl?.N
      }
      // The least days: names of executions are taken as long.
      expect(await ttlOf(loop)).toBe(String(Date.parse(AT) / 1_000 + 91 * 86_400))
      expect(await ttlOf(idOf('a'))).toBeUndefined()
      client.destroy()
    })
  })
}

/** The last writer of the edges of `a` dies after so many calls; true: he did all he wanted. */
async function survives(emulator: DynamodbEmulator, calls: number): Promise<boolean> {
  const table = await emulator.createTable()
  const { client, store } = open(emulator, table)
  await store.put('main', [place('a', ['b', 'c']), place('b'), place('c'), place('d')])
  await store.dropChanges('main', await store.changes('main', 100))
  const dying = open(emulator, table, calls)
  const wanted = await dying.store.put('main', [place('a', ['c', 'd'])]).catch(() => [])
  dying.client.destroy()
  const links = (await store.entity('main', idOf('a')))?.triples?.map(({ object }) => String(object)) ?? []
  expect([['b', 'c'].map(idOf), ['c', 'd'].map(idOf)]).toContainEqual(links)
  for (const end of ['b', 'c', 'd'].map(idOf)) {
    const query = { entity_id: end, direction: 'in', depth: 1, limit: 10 } as const
    expect((await store.neighbours('main', query)).edges).toHaveLength(links.includes(end) ? 1 : 0)
  }
  if (links.includes(idOf('d'))) expect(await store.changes('main', 100)).toHaveLength(1)
  client.destroy()
  return wanted[0]?.outcome === 'updated'
}

/** A client that follows the house rules; after so many calls every further one fails, as for a writer that is gone. */
function open(emulator: DynamodbEmulator, table: string, calls = Number.POSITIVE_INFINITY) {
  const client = new DynamoDBClient({ ...emulator.aws, maxAttempts: 1 })
  let made = 0
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        requireHouseRules(commandName, args.input)
        made += 1
        if (made > calls) throw Object.assign(new Error('gone'), { name: 'TimeoutError' })
        return next(args)
      },
    { step: 'initialize' },
  )
  const clock = { now: () => Date.parse(AT), delay: lambdaClock.delay }
  return { client, store: graphStoreOn({ client, table, clock, ids: { random: (bytes) => randomBytes(bytes) } }) }
}

const COMMANDS = /^(GetItem|BatchGetItem|Query|PutItem|DeleteItem|BatchWriteItem)Command$/
const WORDS = /\b(AND|begins_with|attribute_not_exists)\b/g

/** No scans, no transactions; reads are consistent but those of an index; every name an alias, every value a parameter. */
function requireHouseRules(command: string, input: object): void {
  expect(command).toMatch(COMMANDS)
  const text = JSON.stringify(input)
  if (/Get|Query/.test(command) && !text.includes('"IndexName"')) expect(text).toContain('"ConsistentRead":true')
  for (const [name, value] of Object.entries(input)) {
    if (!name.endsWith('Expression') || typeof value !== 'string') continue
    expect(value.replace(WORDS, '')).toMatch(/^([#:]\d+|[\s.,()<>=+])*$/)
  }
}
