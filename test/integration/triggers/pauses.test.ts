import { afterEach, expect, test } from 'vitest'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** A pause begins when somebody says so, not at the look before it. */
let place: TriggerPlace
afterEach(() => place.close())

const BOTH = `
name: orders
inputs: { order: json }
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
triggers:
  - { name: on-order, event: { name: order.created, map: { order: detail } } }
  - { name: daily, schedule: { cron: "0 6,7 * * *", overlap: allow }, inputs: { order: "{% $now('[H01]') %}" } }
`
const pause = async (paused: boolean) => {
  for (const trigger of ['on-order', 'daily'])
    await place.route('change-trigger', { document: 'orders', trigger }, { paused }, { httpMethod: 'PATCH' })
}
/** It is kept, and nobody looks. */
async function keepEvent(order: string): Promise<void> {
  const { waits, objects } = place.test.place.world
  const at = new Date(place.time.now()).toISOString()
  const payload = await objects.put('main', Buffer.from(JSON.stringify(order)))
  const own = { id: order, at, expires_at: '2026-06-08T12:00:00.000Z', payload }
  await waits.keepEvent({ tenant: 'main', name: 'order.created', by: 'user:ana', ...own })
}
const orders = async () => (await place.runs()).map(({ context }) => (context as { order: string }).order).toSorted()

test('what came before it is owed and waits, what comes in it does not come later', async () => {
  place = await openTriggerPlace('2026-06-01T05:59:00Z')
  place.write('orders', BOTH)
  await place.look()
  place.time.set('2026-06-01T06:00:01Z')
  await keepEvent('before')
  place.time.set('2026-06-01T06:00:02Z')
  await pause(true)
  place.time.set('2026-06-01T06:01:00Z')
  await keepEvent('within')
  await place.look()
  place.time.set('2026-06-01T07:30:00Z')
  await place.look()
  expect(await place.runs()).toEqual([])
  await pause(false)
  await place.look()
  expect(await orders()).toEqual(['06', 'before'])
})
