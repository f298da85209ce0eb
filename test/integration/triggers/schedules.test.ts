import { afterEach, expect, test } from 'vitest'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** Schedules of documents in a local place, in time that the test sets. */
let place: TriggerPlace
afterEach(() => place.close())

const says = (schedule: string, more = '') => `
name: report
inputs: { day: { type: string }, kind: { type: string, default: plain } }
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
triggers:
  - { name: nightly, schedule: ${schedule}, inputs: { day: "{% $now('[Y0001]-[M01]-[D01]T[H01]:[m01]') %}"${more} } }
`
const nightly = { document: 'report', trigger: 'nightly' }
const list = async () => {
  const { json } = await place.route('list-triggers', null, undefined, { httpMethod: 'GET' })
  return json as unknown as { triggers: Record<string, never>[]; unsound: string[] }
}
const days = async () => (await place.runs()).map(({ context }) => (context as { day: string }).day).toSorted()

test('each time starts one run, whose starter is the trigger, with the time of the firing as its now', async () => {
  place = await openTriggerPlace('2026-06-01T05:59:00Z')
  place.write('report', says('{ cron: "0 6 * * *" }', ', kind: nightly'))
  await place.look()
  expect(await place.runs()).toEqual([])
  place.time.set('2026-06-01T06:00:01Z')
  await Promise.all([place.look(), place.look()])
  await place.look()
  await place.ended()
  place.time.set('2026-06-02T06:00:00Z')
  await place.look()
  const runs = await place.runs()
  expect(runs.map(({ starter }) => starter)).toEqual(['trigger:nightly', 'trigger:nightly'])
  expect(runs.map(({ context }) => context)).toEqual([
    { day: '2026-06-01T06:00', kind: 'nightly' },
    { day: '2026-06-02T06:00', kind: 'nightly' },
  ])
  const { triggers, unsound } = await list()
  expect(unsound).toEqual([])
  expect(triggers).toEqual([
    {
      document: 'report',
      name: 'nightly',
      kind: 'schedule',
      says: '0 6 * * * in UTC',
      next: '2026-06-03T06:00:00.000Z',
      waiting: 0,
      failures: 0,
      last: {
        id: 'time:2026-06-02T06:00:00.000Z',
        at: '2026-06-02T06:00:00.000Z',
        state: 'started',
        run_id: runs[1]?.run_id,
        ended_at: '2026-06-02T06:00:00.000Z',
        tries: 0,
      },
    },
  ])
})

test.each([
  ['none', []],
  ['last', ['2026-06-04T06:00']],
  ['all', ['2026-06-01T06:00', '2026-06-02T06:00', '2026-06-03T06:00', '2026-06-04T06:00']],
])('a standstill of days is made up for as catch_up: %s says, and what is not is counted', async (catch_up, made) => {
  place = await openTriggerPlace('2026-06-01T00:00:00Z')
  place.write('report', says(`{ cron: "0 6 * * *", overlap: allow, catch_up: ${catch_up} }`))
  await place.look()
  await place.test.reopen()
  place.time.set('2026-06-04T18:00:00Z')
  await place.look()
  await place.look()
  expect(await days()).toEqual(made)
  await place.ended()
  const [shown] = (await list()).triggers
  const missed = 4 - made.length
  expect(shown).toMatchObject(missed === 0 ? {} : { missed: { count: missed } })
  place.time.set('2026-06-05T06:00:00Z')
  await place.look()
  expect(await days()).toEqual([...made, '2026-06-05T06:00'])
})

test.each([
  ['skip', 1, { waiting: 0, last: { state: 'skipped', reason: { code: 'trigger_overlap' } } }],
  ['queue', 1, { waiting: 2, last: { state: 'owed' } }],
  ['allow', 3, { waiting: 0, last: { state: 'started' } }],
] as const)('while a run goes on, overlap: %s lets so many run: %i', async (overlap, started, shown) => {
  place = await openTriggerPlace('2026-06-01T00:30:00Z')
  const waits = '- { id: a, mode: wait, wait: { event: { name: go }, timeout: 5d } }\n'
  place.write('report', says(`{ cron: "0 * * * *", overlap: ${overlap} }`).replace(/- \{ id: a.*\n/, waits))
  for (const hour of ['00:30', '01:00', '02:00', '03:00']) {
    place.time.set(`2026-06-01T${hour}:00Z`)
    await place.look()
  }
  expect(await place.runs()).toHaveLength(started)
  expect((await list()).triggers[0]).toMatchObject(shown)
  if (overlap !== 'queue') return
  // Each waits for the end of the one before it.
  for (const count of [2, 3]) {
    const run = (await place.runs()).at(-1)?.run_id ?? ''
    await place.test.call('stop-run', run, {})
    await place.look()
    expect(await place.runs()).toHaveLength(count)
  }
  expect(await days()).toEqual(['2026-06-01T01:00', '2026-06-01T02:00', '2026-06-01T03:00'])
})

test('paused it starts nothing, and what would have been is not made up for; by hand it starts all the same', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *", overlap: allow, catch_up: all }'))
  await place.look()
  const paused = await place.route(
    'change-trigger',
    nightly,
    { paused: true, reason: 'holiday' },
    { httpMethod: 'PATCH' },
  )
  expect(paused).toMatchObject({ status: 200, json: { changed: true, trigger: { paused: { reason: 'holiday' } } } })
  expect((paused.json as { trigger: object }).trigger).not.toHaveProperty('next')
  expect(await place.route('change-trigger', nightly, { paused: true })).toMatchObject({ json: { changed: false } })
  place.time.set('2026-06-03T12:00:00Z')
  await place.look()
  expect(await place.runs()).toEqual([])
  const fired = await place.route(
    'fire-trigger',
    nightly,
    { inputs: { day: 'today' } },
    {
      headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
    },
  )
  expect(fired).toMatchObject({ status: 202, json: { firing: { state: 'owed' } } })
  await place.look()
  expect(await place.runs()).toMatchObject([{ starter: 'trigger:nightly', context: { day: 'today', kind: 'plain' } }])
  const again = await place.route(
    'fire-trigger',
    nightly,
    { inputs: { day: 'today' } },
    {
      headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
    },
  )
  expect(again).toMatchObject({ json: { firing: { state: 'started' } } })
  const meta = await place.test.place.world.runs.meta({ tenant: 'main', run_id: (await place.runs())[0]?.run_id ?? '' })
  // Who fired it is behind it: a document may forbid to approve what one has started.
  expect(meta?.starter_person).toMatch(/^user:/)
  await place.route('change-trigger', nightly, { paused: false })
  await place.look()
  expect(await place.runs()).toHaveLength(1)
  place.time.set('2026-06-04T06:00:00Z')
  await place.look()
  expect(await days()).toEqual(['2026-06-04T06:00', 'today'])
})

test('a start that is held is put off and comes later; one that would be refused again has failed, and is seen', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *" }'))
  await place.look()
  await place.test.place.world.runs.holdStarts('main', { by: 'user:ana', at: '2026-06-01T05:30:00.000Z' })
  place.time.set('2026-06-01T06:00:00Z')
  await place.look()
  expect((await list()).triggers[0]).toMatchObject({
    waiting: 1,
    last: { state: 'owed', tries: 1, next_at: '2026-06-01T06:00:15.000Z', reason: { code: 'starts_on_hold' } },
  })
  await place.test.place.world.runs.releaseStarts('main')
  await place.look()
  expect(await place.runs()).toEqual([])
  place.time.set('2026-06-01T06:00:15Z')
  await place.look()
  expect(await days()).toEqual(['2026-06-01T06:00'])
  await place.ended()
  // The document is changed while a firing waits for nothing: its input is of another type now.
  place.write('report', says('{ cron: "0 6 * * *" }').replace('day: { type: string }', 'day: { type: number }'))
  for (const day of ['02', '03']) {
    place.time.set(`2026-06-${day}T06:00:00Z`)
    await place.look()
  }
  expect((await list()).triggers[0]).toMatchObject({
    failures: 2,
    last: { state: 'failed', reason: { code: 'invalid_inputs' } },
  })
  expect(await place.runs()).toHaveLength(1)
})

test('another schedule begins anew; a trigger that is gone starts nothing any more', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *", overlap: allow, catch_up: all }'))
  await place.look()
  place.time.set('2026-06-02T12:00:00Z')
  place.write('report', says('{ cron: "0 7 * * *", overlap: allow, catch_up: all }'))
  await place.look()
  expect(await place.runs()).toEqual([])
  place.time.set('2026-06-03T07:00:00Z')
  await place.look()
  expect(await days()).toEqual(['2026-06-03T07:00'])
  place.write('report', says('{ cron: "0 7 * * *" }').replace(/triggers:[\s\S]*/, ''))
  place.time.set('2026-06-04T07:00:00Z')
  await place.look()
  expect(await place.runs()).toHaveLength(1)
  expect((await list()).triggers).toEqual([])
  expect(await place.route('get-trigger', nightly, undefined, { httpMethod: 'GET' })).toMatchObject({
    status: 404,
    json: { code: 'unknown_trigger' },
  })
})

test.each([
  ['a schedule', '', undefined],
  [
    'a trigger of another kind',
    'webhook: { verify: { hmac: { header: x-signature, secret: own } }, map: { day: body } }',
    401,
  ],
])('one that was taken away and is put back begins then; meanwhile there was %s', async (_, between, status) => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  const text = says('{ cron: "0 6 * * *", overlap: allow, catch_up: all }')
  place.write('report', text)
  await place.look()
  if (status === undefined) place.remove('report')
  else place.write('report', text.replace(/schedule: .*\n/, `${between} }\n`))
  for (const day of ['02', '03', '04']) {
    place.time.set(`2026-06-${day}T12:00:00Z`)
    await place.look()
  }
  place.write('report', text)
  await place.look()
  expect(await place.runs()).toEqual([])
  expect((await list()).triggers[0]).not.toHaveProperty('missed')
  place.time.set('2026-06-05T06:00:00Z')
  await place.look()
  expect(await days()).toEqual(['2026-06-05T06:00'])
})

test('a document that cannot be read for a while has not lost its triggers', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  const text = says('{ cron: "0 6 * * *", overlap: allow, catch_up: all }')
  place.write('report', text)
  await place.look()
  place.write('report', `${text}  - [`)
  for (const day of ['01', '02']) {
    place.time.set(`2026-06-${day}T12:00:00Z`)
    await place.look()
  }
  place.write('report', text)
  await place.look()
  expect(await days()).toEqual(['2026-06-01T06:00', '2026-06-02T06:00'])
})

test('what somebody tries starts nothing and says what it would', async () => {
  place = await openTriggerPlace('2026-06-01T05:00:00Z')
  place.write('report', says('{ cron: "0 6 * * *", timezone: Europe/Berlin }'))
  const tried = await place.route('try-trigger', nightly, {})
  expect(tried).toMatchObject({
    status: 200,
    json: {
      ok: true,
      known: false,
      id: 'time:2026-06-02T04:00:00.000Z',
      inputs: { day: '2026-06-02T04:00' },
      problems: [],
    },
  })
  expect((tried.json as { next_times: string[] }).next_times).toHaveLength(5)
  place.write('report', says('{ cron: "0 6 * * *" }').replace('$now(', '$number('))
  expect(await place.route('try-trigger', nightly, {})).toMatchObject({
    json: { ok: false, problems: [{ code: 'trigger_expression_failed' }] },
  })
  await place.look()
  expect(await place.runs()).toEqual([])
})
