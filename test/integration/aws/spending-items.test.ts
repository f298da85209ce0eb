import { randomBytes } from 'node:crypto'
import { ConditionalCheckFailedException, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { spendingOn } from '../../../functions/aws/spending.ts'
import { newCallId } from '../../../functions/provider-spending.ts'
import { createItemStore } from '../../faults/item-store/create-item-store.ts'

/** The items that count spending on AWS (docs/adr/0084): what a call costs, and who is always slower. */
const DAILY = { cap: 'daily', period: '2026-11-27' }
const TTL = 1_900_000_000

type Client = Pick<DynamoDBClient, 'send'>

function openLedgers(through: (client: Client) => Client = (client) => client) {
  const units = { wcu: 0 }
  const { client } = createItemStore(({ wcu }) => {
    units.wcu += wcu
  })
  const clock = { now: () => 0, delay: async () => undefined }
  const ids = { random: (n: number) => randomBytes(n) }
  return { units, spending: spendingOn({ client: through(client), table: 'runs', clock, ids }) }
}

test('a raise that others were always faster than is no raise, and says so', async () => {
  const { spending } = openLedgers((client) => ({
    send: (command: UpdateItemCommand) =>
      command instanceof UpdateItemCommand
        ? Promise.reject(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }))
        : client.send(command),
  }))
  const raise = { id: 'r', by: 'user:ana', at: '2026-11-27T12:00:00.000Z', reason: 'x', tokens: 5, usd_micros: 0 }
  await expect(spending.raise(DAILY, raise, TTL)).rejects.toMatchObject({ code: 'store_busy' })
})

/** Ids as functions/provider-spending.ts makes them. */
const call = () => ({ id: newCallId({ random: (n) => randomBytes(n) }), amount: { tokens: 10, usd_micros: 10 } })

test.each([
  [0, 2],
  [100, 4],
  [1_000, 28],
])('beside %i calls in flight a call costs %i write units a cap', async (flying, most) => {
  const { spending, units } = openLedgers()
  for (let n = 0; n < flying; n += 1) await spending.reserve(DAILY, call(), {}, TTL)
  units.wcu = 0
  const one = call()
  await spending.reserve(DAILY, one, {}, TTL)
  await spending.settle(DAILY, one, { tokens: 1, usd_micros: 1 })
  expect(units.wcu).toBeLessThanOrEqual(most)
})
