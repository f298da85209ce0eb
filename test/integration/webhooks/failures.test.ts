import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import type { Reaction, WebhookReceiver } from '../../emulators/webhook-receiver.ts'
import { firstDaily } from '../../how-much.ts'
import { serve } from '../gates/guarded-servers.ts'
import type { TestPlace } from '../test-place.ts'
import { BRIEF, owed, placeWith, receiver } from './webhook-place.ts'

const INPUTS = { inputs: { text: 'x' } }
const ENDS = { events: ['run:completed'] }
const start = (place: TestPlace) => place.start(BRIEF, INPUTS)
const settled = (place: TestPlace, run_id: string) => expect.poll(() => owed(place, run_id)).toEqual([])
const ids = ({ received }: WebhookReceiver) => received.map(({ id }) => id)

/** A clock that can be put forward. */
function movable() {
  let ahead = 0
  const clock = { now: () => Date.now() + ahead, delay: systemClock.delay }
  return {
    clock,
    forward(ms: number) {
      ahead += ms
    },
  }
}

/** So often it did not take what it is owed now. */
async function tried(place: TestPlace, run_id: string, tries: number): Promise<void> {
  await expect.poll(async () => (await owed(place, run_id))[0]).toMatchObject({ kind: 'endpoint', tries })
}

describe('an endpoint that misbehaves', () => {
  for (const { tags, rows } of firstDaily<[string, Reaction]>(4, [
    ['answers 500', 500],
    ['hangs up', (response) => void response.destroy()],
    ['answers no HTTP', (response) => void response.socket?.end('hello\r\n\r\n')],
    ['redirects', (response) => void response.writeHead(307, { location: '/elsewhere' }).end()],
    ['answers 400', 400],
    ['hangs up in the middle of its headers', (response) => void response.socket?.end('HTTP/1.1 204 No')],
    ['goes over to another protocol', (response) => void response.socket?.write('HTTP/1.1 101 Switching\r\n\r\n')],
    ['hangs', () => undefined],
  ]))
    test.each(rows)('and %s is told again, the same message under the same id', { tags }, async (_what, reaction) => {
      const { clock, forward } = movable()
      const hook = await receiver()
      hook.react(reaction, 204)
      const place = await placeWith([{ url: hook.url, ...ENDS, timeout_ms: 3_000 }], { clock })
      const run_id = await start(place)
      await place.ended(run_id)
      await tried(place, run_id, 1)
      forward(11_000)
      await settled(place, run_id)
      const [first, second, ...more] = hook.received
      expect(more).toEqual([])
      expect(second).toMatchObject({ id: first?.id, text: first?.text, signed_by: [0] })
      expect((second?.timestamp ?? 0) - (first?.timestamp ?? 0)).toBeGreaterThanOrEqual(10)
    })

  test.each<[string, Reaction]>([
    ['slowly', (response) => void setTimeout(() => response.writeHead(200).end(), 400)],
    ['with a body that never ends', (response) => void response.writeHead(200).write('x'.repeat(5_000_000))],
    ['with a status of its own', 299],
  ])('and yet says yes %s is told once', async (_what, reaction) => {
    const hook = await receiver()
    hook.react(reaction)
    const place = await placeWith([{ url: hook.url, ...ENDS, timeout_ms: 20_000 }])
    const run_id = await start(place)
    await place.ended(run_id)
    await settled(place, run_id)
    expect(hook.received).toHaveLength(1)
  })

  test('is never followed to where it redirects', async () => {
    const trap = await serve((_request, response) => void response.end())
    const hook = await receiver()
    hook.react((response) => void response.writeHead(302, { location: trap.url }).end())
    const place = await placeWith([{ url: hook.url, ...ENDS }])
    const run_id = await start(place)
    await place.ended(run_id)
    await tried(place, run_id, 1)
    expect(trap.asked).toEqual([])
    await trap.close()
  })

  test('may not be reached where the rules of gates forbid it', async () => {
    const hook = await receiver()
    const place = await placeWith([{ url: hook.url, ...ENDS }], {}, { http_gates: {} })
    const run_id = await start(place)
    await place.ended(run_id)
    await tried(place, run_id, 1)
    const { json } = await place.call('test-webhook', run_id, { name: 'n0' })
    expect(json).toMatchObject({ delivered: false, reason: expect.stringContaining('it may not be asked: ') })
    expect(hook.received).toEqual([])
  })

  test.each([429, 503])('and asks by %i to be left alone is, for so long', async (status) => {
    const { clock, forward } = movable()
    const hook = await receiver()
    hook.react((response) => void response.writeHead(status, { 'retry-after': '3600' }).end(), 204)
    const place = await placeWith([{ url: hook.url, ...ENDS }], { clock })
    const run_id = await start(place)
    await place.ended(run_id)
    await tried(place, run_id, 1)
    const [entry] = await owed(place, run_id)
    const due = entry?.kind === 'endpoint' ? Date.parse(entry.due_at ?? '') - clock.now() : 0
    expect(due).toBeGreaterThan(3_500_000)
    expect(due).toBeLessThanOrEqual(3_600_000)
    forward(3_601_000)
    await settled(place, run_id)
    expect(hook.received).toHaveLength(2)
  })

  test('and is gone is told nothing more of that run, and the next one is', async () => {
    const hook = await receiver()
    hook.react(204, 410, 204)
    const place = await placeWith([{ url: hook.url }])
    const first = await start(place)
    await place.ended(first)
    await settled(place, first)
    const ofFirst = ids(hook).filter((id) => id.startsWith(first))
    expect(ofFirst).toEqual([`${first}-1-n0`, `${first}-2-n0`])
    const { json } = await place.call('list-dead-webhooks', first)
    expect(json.dead).toMatchObject([{ id: `${first}-2-n0`, last: { status: 410 } }])
    const second = await start(place)
    const events = await place.ended(second)
    await settled(place, second)
    expect(ids(hook).filter((id) => id.startsWith(second))).toHaveLength(events.length)
  })
})

describe('one that does not answer', () => {
  test('keeps neither another endpoint nor the run waiting', async () => {
    const [hung, quick] = [await receiver(), await receiver()]
    hung.react(() => undefined)
    const place = await placeWith([
      { url: hung.url, timeout_ms: 20_000 },
      { url: quick.url, timeout_ms: 20_000 },
    ])
    const before = Date.now()
    const run_id = await start(place)
    const events = await place.ended(run_id)
    await expect.poll(() => quick.received.length).toBe(events.length)
    // Whoever waited for the hung one would wait its 20 seconds.
    expect(Date.now() - before).toBeLessThan(18_000)
    expect(hung.received).toHaveLength(1)
    await expect.poll(async () => (await owed(place, run_id)).map(({ id }) => id)).toEqual(['endpoint-n0'])
    await hung.close().catch(() => undefined)
  })

  test('keeps later messages of its run back, which come in order once it does', { tags: ['thorough'] }, async () => {
    const { clock, forward } = movable()
    const hook = await receiver()
    hook.react(500, 500, 204)
    const place = await placeWith([{ url: hook.url }], { clock })
    const run_id = await start(place)
    const events = await place.ended(run_id)
    await tried(place, run_id, 1)
    forward(11_000)
    await tried(place, run_id, 2)
    expect(new Set(ids(hook))).toEqual(new Set([`${run_id}-1-n0`]))
    forward(31_000)
    await settled(place, run_id)
    expect(ids(hook).slice(2)).toEqual(events.map(({ seq }) => `${run_id}-${seq}-n0`))
  })

  test('is gone on with after a restart where it stood', async () => {
    const { clock, forward } = movable()
    const hook = await receiver()
    hook.react(204, 500)
    const place = await placeWith([{ url: hook.url }], { clock })
    const run_id = await start(place)
    const events = await place.ended(run_id)
    await tried(place, run_id, 1)
    hook.react(204)
    forward(11_000)
    await place.reopen()
    await settled(place, run_id)
    const [first, ...others] = events.map(({ seq }) => `${run_id}-${seq}-n0`)
    expect([...new Set(ids(hook))]).toEqual([first, ...others])
    expect(ids(hook).filter((id) => id === first)).toHaveLength(1)
  })
})

describe('a process that dies', () => {
  test('between a delivery and the note of it sends that message again, and none is lost', async () => {
    const { clock, forward } = movable()
    const hook = await receiver()
    const arrived = Promise.withResolvers<void>()
    // It has taken the message, and its answer is on the way when the process dies.
    hook.react(() => arrived.resolve(), 204)
    const place = await placeWith([{ url: hook.url, timeout_ms: 1_500 }], { clock })
    const run_id = await start(place)
    await arrived.promise
    await place.kill()
    const events = await place.ended(run_id)
    // The turn of the dead one outlasts its request by ten seconds.
    forward(12_000)
    await settled(place, run_id)
    const [first, second, ...others] = ids(hook)
    expect(second).toBe(first)
    expect(hook.received[1]?.text).toBe(hook.received[0]?.text)
    expect(new Set([second, ...others])).toEqual(new Set(events.map(({ seq }) => `${run_id}-${seq}-n0`)))
  })
})
