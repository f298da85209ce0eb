import { afterEach, expect, test } from 'vitest'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** Events of outside that start runs, in a local place. */
let place: TriggerPlace
afterEach(() => place.close())

const says = (event: string) => `
name: orders
inputs: { order: json }
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
triggers:
  - { name: on-order, event: ${event} }
`
const send = (body: object) => place.route('send-event', null, body)
const orders = async () =>
  (await place.runs()).map(({ context }) => (context as { order: number }).order).toSorted((a, b) => a - b)

test('each event of its name that matches starts one run, those sent before it was seen none', async () => {
  place = await openTriggerPlace('2026-06-01T12:00:00Z')
  await send({ name: 'order.created', payload: { n: 1, total: 500 } })
  place.time.set('2026-06-01T12:10:00Z')
  place.write('orders', says('{ name: order.created, match: "detail.total > 100", map: { order: detail.n } }'))
  await place.look()
  place.time.set('2026-06-01T12:11:00Z')
  await send({ name: 'order.created', payload: { n: 2, total: 500 } })
  await send({ name: 'order.created', payload: { n: 3, total: 5 } })
  await send({ name: 'order.created', payload: { n: 4, total: 101 }, id: 'four' })
  await send({ name: 'order.created', payload: { n: 4, total: 101 }, id: 'four' })
  await send({ name: 'order.closed', payload: { n: 5, total: 500 } })
  await Promise.all([place.look(), place.look()])
  await place.look()
  expect(await orders()).toEqual([2, 4])
  expect((await place.runs()).every(({ starter }) => starter === 'trigger:on-order')).toBe(true)
  place.time.set('2026-06-01T13:00:00Z')
  await send({ name: 'order.created', payload: { n: 6, total: 500 } })
  await place.look()
  expect(await orders()).toEqual([2, 4, 6])
})

test('a standstill loses none; paused it takes none', async () => {
  place = await openTriggerPlace('2026-06-01T12:00:00Z')
  place.write('orders', says('{ name: order.created, map: { order: detail.n } }'))
  await place.look()
  // Kept by the place, and nobody looked.
  for (let n = 1; n <= 250; n += 1) {
    place.time.set(Date.parse('2026-06-01T12:00:01Z') + n * 1_000)
    await place.test.place.world.waits.keepEvent({
      tenant: 'main',
      id: `e${n}`,
      name: 'order.created',
      at: new Date(place.time.now()).toISOString(),
      expires_at: '2026-06-08T12:00:00.000Z',
      payload: await place.test.place.world.objects.put('main', Buffer.from(JSON.stringify({ n }))),
      by: 'user:ana',
    })
  }
  place.time.set('2026-06-01T18:00:00Z')
  await place.look()
  expect(await orders()).toEqual(Array.from({ length: 250 }, (_, i) => i + 1))
  await place.route('change-trigger', { document: 'orders', trigger: 'on-order' }, { paused: true })
  place.time.set('2026-06-01T18:01:00Z')
  await send({ name: 'order.created', payload: { n: 1_000 } })
  await place.look()
  place.time.set('2026-06-01T18:10:00Z')
  await place.route('change-trigger', { document: 'orders', trigger: 'on-order' }, { paused: false })
  await place.look()
  expect(await orders()).toHaveLength(250)
})

test('however many came since the last look, the oldest are looked at first and none is passed over', async () => {
  place = await openTriggerPlace('2026-06-01T12:00:00Z')
  place.write('orders', says('{ name: order.created, match: "event.key = \'mine\'", map: { order: detail } }'))
  await place.look()
  const { waits, objects } = place.test.place.world
  const payload = await objects.put('main', Buffer.from('1'))
  const count = 10_500
  for (let n = 0; n < count; n += 1) {
    const at = new Date(Date.parse('2026-06-01T12:00:01Z') + n * 1_000).toISOString()
    const key = n === 0 || n === 1_500 ? 'mine' : 'other'
    const own = { id: `e${n}`, key, at, expires_at: '2026-06-08T12:00:00.000Z' }
    await waits.keepEvent({ tenant: 'main', name: 'order.created', payload, by: 'user:ana', ...own })
  }
  place.time.set('2026-06-02T12:00:00Z')
  await place.look()
  expect(await orders()).toEqual([1])
  await place.look()
  expect(await orders()).toEqual([1, 1])
})

test('tried with a sample that does not match it says so', async () => {
  place = await openTriggerPlace('2026-06-01T12:00:00Z')
  place.write('orders', says('{ name: order.created, match: "detail.total > 100", map: { order: detail.n } }'))
  const on = { document: 'orders', trigger: 'on-order' }
  expect(await place.route('try-trigger', on, { body: { n: 1, total: 5 } })).toMatchObject({
    json: { ok: false, problems: [{ code: 'no_match' }], inputs: { order: 1 } },
  })
  expect(await place.route('try-trigger', on, { body: { n: 1, total: 500 } })).toMatchObject({
    json: { ok: true, problems: [] },
  })
})

test('a match knows the time of the firing, as other expressions do', async () => {
  place = await openTriggerPlace('2026-06-01T12:00:00Z')
  const match = 'detail.until > $now() and $millis() = $toMillis(event.at) and firing.at = event.at'
  place.write('orders', says(`{ name: order.created, match: "${match}", map: { order: detail.n } }`))
  await place.look()
  const on = { document: 'orders', trigger: 'on-order' }
  const payload = (n: number, until: string) => ({ n, until })
  expect(await place.route('try-trigger', on, { body: payload(1, '2026-06-02') })).toMatchObject({ json: { ok: true } })
  expect(await place.route('try-trigger', on, { body: payload(2, '2026-05-31') })).toMatchObject({
    json: { ok: false },
  })
  await send({ name: 'order.created', payload: payload(1, '2026-06-02') })
  await send({ name: 'order.created', payload: payload(2, '2026-05-31') })
  await place.look()
  expect(await orders()).toEqual([1])
})
