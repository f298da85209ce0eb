import { afterEach, expect, test } from 'vitest'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** A clock that was ahead and is set right: triggers do not wait until it is that late again. */
let place: TriggerPlace
afterEach(() => place.close())

const says = (trigger: string) => `
name: report
inputs: { day: { type: string } }
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
triggers:
  - { name: own, ${trigger} }
`
const NIGHTLY = `schedule: { cron: "0 6 * * *", overlap: allow }, inputs: { day: "{% $now('[Y0001]-[M01]-[D01]') %}" }`
const ON_ORDER = 'event: { name: order, map: { day: detail } }'
const days = async () => (await place.runs()).map(({ context }) => (context as { day: string }).day).toSorted()

async function lookAt(time: string): Promise<void> {
  place.time.set(time)
  await place.look()
}

test('a schedule', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says(NIGHTLY))
  await place.look()
  await lookAt('2030-01-01T06:00:00Z')
  await lookAt('2026-06-01T05:30:00Z')
  await lookAt('2026-06-01T06:00:00Z')
  await lookAt('2026-06-02T06:00:00Z')
  expect(await days()).toEqual(['2026-06-01', '2026-06-02', '2030-01-01'])
})

test('a schedule that was first seen then', async () => {
  place = await openTriggerPlace('2030-06-01T05:00:00Z')
  place.write('report', says(NIGHTLY))
  await place.look()
  await lookAt('2026-06-01T05:30:00Z')
  await lookAt('2026-06-01T06:00:00Z')
  expect(await days()).toEqual(['2026-06-01'])
})

test('an event', async () => {
  place = await openTriggerPlace('2030-06-01T12:00:00Z')
  place.write('report', says(ON_ORDER))
  await place.look()
  await place.route('send-event', null, { name: 'order', payload: 'ahead' })
  await place.look()
  await lookAt('2026-06-01T12:00:00Z')
  for (const day of ['one', 'two']) {
    place.time.set(place.time.now() + 60_000)
    await place.route('send-event', null, { name: 'order', payload: day })
    await place.look()
  }
  expect(await days()).toEqual(['ahead', 'one', 'two'])
})

test('a start that was put off then', async () => {
  place = await openTriggerPlace('2030-01-01T05:00:00Z')
  place.write('report', says(NIGHTLY))
  await place.look()
  await place.test.place.world.runs.holdStarts('main', { by: 'user:ana', at: '2026-06-01T00:00:00.000Z' })
  await lookAt('2030-01-01T06:00:00Z')
  await place.test.place.world.runs.releaseStarts('main')
  expect(await days()).toEqual([])
  await lookAt('2026-06-01T05:30:00Z')
  expect(await days()).toEqual(['2030-01-01'])
})

test('hosts whose clocks differ by minutes count nothing as missed that was fired', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says(NIGHTLY))
  await place.look()
  await lookAt('2026-06-01T06:00:00Z')
  await lookAt('2026-06-01T05:50:00Z')
  await lookAt('2026-06-01T06:08:00Z')
  expect(await days()).toEqual(['2026-06-01'])
  const listed = await place.route('list-triggers', null, undefined, { httpMethod: 'GET' })
  expect(JSON.stringify(listed.json)).not.toContain('missed')
})
