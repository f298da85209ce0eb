import { afterEach, describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../conformance/virtual-clock.ts'
import type { TestPlace } from '../test-place.ts'
import { type Answer, dailyOnSqlite, eventually, type OpenSafe, post, startOf, WAITS } from './safety-place.ts'

const MINUTE_MS = 60_000

/** Streams of events that are open at once, on one kind of store. */
export function streamSuite(store: string, openSafe: OpenSafe): void {
  const daily = dailyOnSqlite(store)
  let open: TestPlace
  const started = async () => String((await startOf(open, WAITS)).json.run_id)
  const held = async (pool: string) => Object.keys(await open.place.world.runs.leases({ tenant: 'main', name: pool }))

  describe(`open streams, on ${store},`, () => {
    afterEach(() => open.close())

    test('one more than a caller may have is refused with words, and everybody else is served', daily, async () => {
      open = await openSafe({ max_streams_per_caller: 2 })
      const run_id = await started()
      const streams = [await stream(open, run_id), await stream(open, run_id)]
      expect(streams.map(({ status }) => status)).toEqual([200, 200])
      const refused = await stream(open, run_id)
      expect(refused).toMatchObject({
        status: 429,
        headers: { 'retry-after': '15' },
        json: { code: 'too_many_streams', facts: { max_streams_per_caller: 2 } },
      })
      expect(refused.json?.detail).toMatch(/2 open, as many as the safety policy allows \(max_streams_per_caller\)/)
      expect((await post(open, 'get-run', { run_id, body: null })).status).toBe(200)
      expect((await post(open, 'stop-run', { run_id, body: { reason: 'enough' } })).status).toBe(200)
      // The streams tell of it and end, so that there is room again.
      for (const { text } of streams) expect(await text()).toContain('event: run:cancelled')
      const next = await startOf(open, WAITS)
      expect((await stream(open, String(next.json.run_id))).status).toBe(200)
    })

    test('a tenant has a cap too, and who is refused by it keeps no place of its own', daily, async () => {
      open = await openSafe({ max_streams: 1 })
      const run_id = await started()
      const first = await stream(open, run_id)
      const refused = await stream(open, run_id)
      expect(refused).toMatchObject({ status: 429, json: { code: 'too_many_streams', facts: { max_streams: 1 } } })
      expect(await held('streams')).toHaveLength(1)
      await first.leave()
      expect(await held('streams')).toEqual([])
      expect((await stream(open, run_id)).status).toBe(200)
    })

    test('a reader that leaves, or has nothing to read, holds no place', daily, async () => {
      open = await openSafe({})
      const run_id = await started()
      const one = await stream(open, run_id)
      expect(await held('streams')).toHaveLength(1)
      await one.leave()
      expect(await held('streams')).toEqual([])
      await post(open, 'stop-run', { run_id, body: {} })
      const events = await open.events(run_id)
      expect((await stream(open, run_id, events.length)).status).toBe(204)
      expect((await stream(open, run_id, 999)).status).toBe(409)
      expect(await held('streams')).toEqual([])
    })

    test('of a function that died the place is free when its lease is over', async () => {
      const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'))
      open = await openSafe({ max_streams_per_caller: 1 }, { clock, sweep_ms: 0 })
      const run_id = await started()
      // Its body is never read on, as if nothing of it were left.
      await stream(open, run_id)
      await clock.advance(5 * MINUTE_MS)
      expect((await stream(open, run_id)).status).toBe(429)
      await clock.advance(MINUTE_MS)
      expect((await stream(open, run_id)).status).toBe(200)
    })

    test('ends after five minutes, saying where the next one goes on', daily, async () => {
      const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'))
      open = await openSafe({}, { clock, sweep_ms: 0 })
      const run_id = await started()
      // The store takes real time, whatever the clock says: all there is to read is there before the minutes begin.
      const asks = async () => {
        await clock.advance(10)
        return (await open.events(run_id)).some(({ type }) => type === 'approval:requested')
      }
      await eventually(asks, 'a person is asked')
      const reading = (await stream(open, run_id)).text()
      for (let at = 0; at < 6; at += 1) await clock.advance(MINUTE_MS)
      const text = await reading
      const last = Math.max(...[...text.matchAll(/^id: (\d+)\nevent/gm)].map(([, id]) => Number(id)))
      expect(text.endsWith(`\nid: ${last}\nretry: 1000\n\n`)).toBe(true)
      expect(await held('streams')).toEqual([])
      const events = await open.events(run_id)
      expect(last).toBe(events.at(-1)?.seq)
    })
  })
}

interface OpenStream {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Of a refusal. */
  readonly json?: Answer
  /** Everything it says until it ends. */
  text(): Promise<string>
  /** As a client that goes away. */
  leave(): Promise<void>
}

async function stream({ place }: TestPlace, run_id: string, since = 0): Promise<OpenStream> {
  const event = {
    httpMethod: 'GET',
    path: '/',
    pathParameters: { run_id },
    queryStringParameters: { since: String(since) },
    headers: {},
    body: null,
    isBase64Encoded: false,
  }
  const answer = (await place.invoke('stream-events', event)) as {
    readonly statusCode: number
    readonly headers: Record<string, string>
    readonly body: string | AsyncGenerator<string>
  }
  const { statusCode: status, headers, body } = answer
  const isText = typeof body === 'string'
  // A stream is under way once its first line was read.
  if (!isText) await body.next()
  return {
    status,
    headers: { ...headers },
    ...(isText && body !== '' ? { json: JSON.parse(body) as Answer } : {}),
    async text() {
      let text = ''
      if (!isText) for await (const part of body) text += part
      return text
    },
    async leave() {
      if (!isText) await body.return(undefined)
    },
  }
}
