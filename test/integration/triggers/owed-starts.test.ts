import { afterEach, expect, test } from 'vitest'
import { findTrigger } from '../../../functions/triggers/declared-triggers.ts'
import { keepFiring } from '../../../functions/triggers/keep-firing.ts'
import { startFiring } from '../../../functions/triggers/start-firing.ts'
import { Fault } from '../../../shared/errors.ts'
import { idOfTime } from '../../../shared/triggers/trigger.ts'
import type { Firing } from '../../../shared/triggers/trigger-store.ts'
import type { World } from '../../../shared/world.ts'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** What becomes of firings that are owed their runs while the place around them changes. */
let place: TriggerPlace
afterEach(() => place.close())

const WAITS = '{ id: a, mode: wait, wait: { event: { name: go }, timeout: 25d } }'
const says = (schedule: string) => `
name: report
inputs: { day: { type: string } }
blocks:
  - ${WAITS}
triggers:
  - { name: nightly, schedule: ${schedule}, inputs: { day: "{% $now('[Y0001]-[M01]-[D01]T[H01]:[m01]') %}" } }
`
const key = { tenant: 'main', document: 'report', trigger: 'nightly' }
const days = async () => (await place.runs()).map(({ context }) => (context as { day: string }).day)
const hold = () => place.test.place.world.runs.holdStarts('main', { by: 'user:ana', at: '2026-06-01T00:00:00.000Z' })
const newest = async () => (await place.test.place.world.triggers.firings(key, { limit: 1 })).firings[0]

async function lookAt(time: string): Promise<void> {
  place.time.set(time)
  await place.look()
}

/** A firing that is kept and whose start nobody has tried. */
async function kept(at: string): Promise<Firing> {
  const { world } = place.test.place
  const declared = await findTrigger(world, 'report', 'nightly')
  if (declared === undefined) throw new Error('no such trigger')
  return keepFiring(world, key, declared.trigger, { id: idOfTime(at), at, roots: {} })
}

test.each([
  ['is not there for a moment', undefined],
  ['cannot be read for a moment', 'triggers: ['],
  ['has no such trigger for a moment', says('{ cron: "0 6 * * *" }').replace('nightly', 'weekly')],
])('what is owed is not lost while its document %s', async (_, text) => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *" }'))
  await place.look()
  await hold()
  await lookAt('2026-06-01T06:00:00Z')
  await place.test.place.world.runs.releaseStarts('main')
  if (text === undefined) place.remove('report')
  else place.write('report', text)
  await lookAt('2026-06-01T06:00:20Z')
  expect(await newest()).toMatchObject({ state: 'owed', reason: { code: 'trigger_gone' } })
  place.write('report', says('{ cron: "0 6 * * *" }'))
  await lookAt('2026-06-01T06:10:00Z')
  expect(await days()).toEqual(['2026-06-01T06:00'])
})

test('a trigger that is gone for a day fails what it owes', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *" }'))
  await kept('2026-06-01T05:00:00.000Z')
  place.remove('report')
  await place.look()
  await lookAt('2026-06-02T04:59:00Z')
  expect(await newest()).toMatchObject({ state: 'owed' })
  await lookAt('2026-06-02T06:00:00Z')
  expect(await newest()).toMatchObject({ state: 'failed', reason: { code: 'trigger_gone' } })
})

test('the day a start is tried again begins with its first try, however long it waited for its turn', async () => {
  place = await openTriggerPlace('2026-06-01T00:30:00Z')
  place.write('report', says('{ cron: "0 1,2 1 6 *", overlap: queue }'))
  await place.look()
  await lookAt('2026-06-01T01:00:00Z')
  await lookAt('2026-06-01T02:00:00Z')
  expect(await days()).toEqual(['2026-06-01T01:00'])
  place.time.set('2026-06-04T00:00:00Z')
  await place.test.call('stop-run', (await place.runs())[0]?.run_id ?? '', {})
  await hold()
  await place.look()
  expect(await newest()).toMatchObject({ state: 'owed', tries: 1, reason: { code: 'starts_on_hold' } })
  await place.test.place.world.runs.releaseStarts('main')
  await lookAt('2026-06-04T00:01:00Z')
  expect(await days()).toEqual(['2026-06-01T01:00', '2026-06-01T02:00'])
})

const dies = async (): Promise<never> => {
  throw new Error('the host died')
}

/** A firing whose run is there, and whose looker died before it noted that. */
async function startedUnnoted(): Promise<Firing> {
  const { world } = place.test.place
  const firing = await kept('2026-06-01T05:00:00.000Z')
  const dead: World = { ...world, triggers: { ...world.triggers, moveFiring: dies } }
  await expect(startFiring(dead, firing)).rejects.toThrow('the host died')
  expect(await place.runs()).toMatchObject([{ run_id: firing.run_id }])
  expect(await newest()).toMatchObject({ state: 'owed' })
  return firing
}

test.each([
  ['its trigger is gone', () => place.remove('report')],
  [
    'its document takes other inputs',
    () =>
      place.write('report', says('{ cron: "0 6 * * *" }').replace('day: { type: string }', 'day: { type: number }')),
  ],
  ['starts are held', hold],
  [
    'its trigger is paused',
    () => place.route('change-trigger', { document: 'report', trigger: 'nightly' }, { paused: true }),
  ],
])('a firing whose run is there has started, though its looker died and now %s', async (_, change) => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *" }'))
  const { run_id } = await startedUnnoted()
  await change()
  await lookAt('2026-06-03T05:00:00Z')
  expect(await newest()).toMatchObject({ state: 'started', run_id })
})

test.each([
  ['Bug', 'machine_not_deployed'],
  ['NotFound', 'machine_unknown'],
] as const)('while a deployment has no machine of a document yet its start waits: %s %s', async (name, code) => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *" }'))
  const { world } = place.test.place
  const deployed = async (): Promise<never> => {
    throw new Fault(name, code, 'Deploy again.')
  }
  const firing = await kept('2026-06-01T05:00:00.000Z')
  expect(await startFiring({ ...world, machine: { ...world.machine, deployed } }, firing)).toBe('later')
  await lookAt('2026-06-01T05:01:00Z')
  expect(await newest()).toMatchObject({ state: 'started' })
})

test('a thousand firings that wait keep nobody else from starting, nor the one that is fired by hand', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  const text = says('{ cron: "0 6 * * *" }')
  const other = '  - { name: other, schedule: { cron: "0 7 * * *" }, inputs: { day: other } }\n'
  place.write('report', text + other)
  await place.look()
  const { world } = place.test.place
  const first = await kept('2026-06-01T04:00:00.000Z')
  for (let i = 0; i < 1_000; i += 1) await world.triggers.keepFiring({ ...first, id: `key:${i}` })
  const paused = { document: 'report', trigger: 'nightly' }
  await place.route('change-trigger', paused, { paused: true })
  await lookAt('2026-06-01T07:00:00Z')
  expect(await days()).toEqual(['other'])
  await place.route('fire-trigger', paused, { inputs: { day: 'by hand' } })
  await place.look()
  // Both began at one time of this clock: of those a list has either first.
  expect((await days()).toSorted()).toEqual(['by hand', 'other'])
})
