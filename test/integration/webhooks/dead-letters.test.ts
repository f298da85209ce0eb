import { expect, test } from 'vitest'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import { openDatabase } from '../../../infra/local/database.ts'
import { createRetention } from '../../../infra/local/sweep.ts'
import type { TestPlace } from '../test-place.ts'
import { BRIEF, owed, placeWith, receiver } from './webhook-place.ts'

const ENDS = { events: ['run:completed'], give_up_sec: 60 }
const DAY_MS = 86_400_000

/** A run whose end an endpoint did not take for a minute. */
async function givenUp(reaction = 500) {
  let ahead = 0
  const errors: unknown[] = []
  const log = { info: () => undefined, error: (...line: unknown[]) => void errors.push(line) }
  const hook = await receiver()
  hook.react(reaction)
  const clock = { now: () => Date.now() + ahead, delay: systemClock.delay }
  const place = await placeWith([{ url: hook.url, ...ENDS }], { clock, log })
  const run_id = await place.start(BRIEF, { inputs: { text: 'x' } })
  const events = await place.ended(run_id)
  await expect.poll(async () => (await owed(place, run_id))[0]).toMatchObject({ tries: 1 })
  ahead += 61_000
  await expect.poll(() => owed(place, run_id)).toEqual([])
  const id = `${run_id}-${events.length}-n0`
  return { place, hook, run_id, id, errors, end: events.at(-1) }
}

async function dead(place: TestPlace, run_id: string): Promise<readonly Record<string, unknown>[]> {
  const { status, json } = await place.call('list-dead-webhooks', run_id)
  expect(status).toBe(200)
  return json.dead ?? []
}

test('a message nobody took in time is a dead letter: stored, told to the log, and the run owes nothing', async () => {
  const { place, run_id, id, errors, end, hook } = await givenUp()
  expect(await dead(place, run_id)).toEqual([
    {
      id,
      endpoint: 'n0',
      run_id,
      seq: end?.seq,
      type: 'run:completed',
      event_at: end?.at,
      tries: 2,
      last: { at: expect.any(String), status: 500, reason: 'it answered 500' },
    },
  ])
  expect(errors).toEqual([['an event was given up', expect.objectContaining({ run_id, endpoint: 'n0', id, tries: 2 })]])
  expect(hook.received).toHaveLength(2)
})

test('a replay that is not taken leaves it dead; one that is takes it off the list, the same message', async () => {
  const { place, hook, run_id, id } = await givenUp()
  const failed = await place.call('replay-webhook', run_id, { id })
  expect(failed).toMatchObject({ status: 200, json: { id, delivered: false, status: 500, dead: { tries: 3 } } })
  expect(await dead(place, run_id)).toHaveLength(1)
  hook.react(204)
  const taken = await place.call('replay-webhook', run_id, { id })
  expect(taken).toMatchObject({ status: 200, json: { id, delivered: true, status: 204 } })
  expect(await dead(place, run_id)).toEqual([])
  expect(new Set(hook.received.map(({ id: sent, text }) => `${sent} ${text}`)).size).toBe(1)
  expect(hook.received.every(({ signed_by }) => signed_by.length === 1)).toBe(true)
})

test('of no such message nothing is replayed, and of no such endpoint nothing tested', async () => {
  const { place, hook, run_id, id } = await givenUp()
  const none = ['', 'x', `${id}x`, id.replace(/-\d+-/, '-1-'), `run_${'0'.repeat(26)}-1-n0`, '../../etc-1-n0']
  for (const wrong of none) {
    const { status, json } = await place.call('replay-webhook', run_id, { id: wrong })
    expect([400, 404]).toContain(status)
    if (wrong !== '') expect(json.code).toBe('unknown_dead_webhook')
  }
  expect(await place.call('test-webhook', run_id, { name: 'other' })).toMatchObject({
    status: 404,
    json: { code: 'unknown_webhook', detail: expect.stringContaining('there are: n0') },
  })
  expect(hook.received).toHaveLength(2)
})

test('a test is a signed message of no run, and nothing of it is kept', async () => {
  const { place, hook, run_id } = await givenUp()
  hook.react(200)
  const { json } = await place.call('test-webhook', run_id, { name: 'n0' })
  const sent = hook.received.at(-1)
  expect(json).toEqual({ id: sent?.id, endpoint: 'n0', delivered: true, status: 200 })
  expect(sent).toMatchObject({ signed_by: [0], body: { type: 'webhook:test', tenant: 'main', data: {} } })
  expect(await dead(place, run_id)).toHaveLength(1)
})

test('it is kept for retention_days', async () => {
  const { place } = await givenUp()
  const { settings, log } = place.place.world
  await place.place.close()
  const db = openDatabase(settings.data_dir)
  const { retention_days } = settings.safety
  const retain = createRetention({ db, folder: `${settings.data_dir}/objects`, retention_days, log })
  const kept = () => db.prepare('SELECT count(*) AS n FROM dead_webhooks').get()?.n
  await retain(Date.now() + (retention_days - 1) * DAY_MS)
  expect(kept()).toBe(1)
  await retain(Date.now() + (retention_days + 1) * DAY_MS)
  expect(kept()).toBe(0)
  db.close()
})
