import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { hang, json } from '../../emulators/provider-server.ts'
import { provider } from '../test-place.ts'
import { openTracedPlace, type TracedPlace } from './place.ts'

/** Collectors that fail: runs go on as if there were none, and it is told once. */
let open: TracedPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const options = { providers: { probe: provider(({ prompt }) => prompt) } }
const dag = (blocks = 1) => ({
  name: 'small',
  blocks: Array.from({ length: blocks }, (_, i) => ({
    id: `b${i}`,
    outputs: { text: { type: 'string' } },
    agent: { provider: 'probe', model: 'm', prompt: 'Hello' },
  })),
})
async function runs(traced: TracedPlace, blocks = 1) {
  const id = await traced.place.start(dag(blocks))
  return { id, end: (await traced.place.ended(id)).at(-1)?.type }
}
const told = ({ logged }: TracedPlace) =>
  logged.flatMap((line) => (line.includes('collector') ? [JSON.parse(line)] : []))

test('spans go out by themselves, some at a time, without anybody who flushes', async () => {
  open = await openTracedPlace(options)
  await runs(open, 10)
  await expect.poll(() => open?.collector.spans.length).toBe(21)
  expect(open.collector.requests.length).toBeLessThan(21)
  expect([open.collector.refused, told(open)]).toEqual([[], []])
})

test('one that is gone: runs complete, it is told once, and the end of the place waits for nothing', {
  tags: ['thorough'],
}, async () => {
  open = await openTracedPlace(options, {}, { endpoint: 'http://127.0.0.1:9' })
  for (let i = 0; i < 3; i += 1) expect((await runs(open)).end).toBe('run:completed')
  await expect.poll(() => open && told(open).length).toBe(1)
  await pause(1_500)
  expect(told(open)).toEqual([
    {
      level: 'error',
      message: 'spans do not reach their collector',
      reason: expect.stringMatching(/^it could not be asked/),
      dropped: 0,
      waiting: expect.any(Number),
    },
  ])
  // There is nobody to wait for, however long it may.
  await open.place.place.world.telemetry?.flush(600_000)
})

test('one that never answers is waited for by no run, and by the end of the place for two seconds', {
  tags: ['thorough'],
}, async () => {
  open = await openTracedPlace(options)
  open.collector.next(...Array.from({ length: 10 }, () => hang))
  const { telemetry } = open.place.place.world
  if (telemetry === undefined) throw new Error('it is configured')
  const flush = vi.spyOn(telemetry, 'flush')
  expect((await runs(open, 20)).end).toBe('run:completed')
  expect(flush.mock.calls).toEqual([])
  await open.place.close()
  expect(flush.mock.calls).toEqual([[2_000]])
})

test('one that is overloaded is asked again, when it said, with the same spans; then it is told that it is well', async () => {
  open = await openTracedPlace(options)
  open.collector.next(json(503, {}, { 'retry-after': '1' }))
  const { id } = await runs(open)
  await open.spansOf(id)
  expect(open.collector.spans).toEqual([])
  await expect.poll(() => open?.collector.spans.length).toBe(3)
  expect(open.collector.requests).toHaveLength(2)
  await expect.poll(() => open && told(open).length).toBe(2)
  expect(told(open)).toMatchObject([
    { reason: 'it answered 503', waiting: 3 },
    { message: 'spans reach their collector again', dropped: 0 },
  ])
})

test.each([
  ['refuses the data', json(400, { message: 'canary' }), 'it answered 400'],
  ['refuses the credential', json(401, {}), 'it answered 401'],
  ['redirects elsewhere', json(307, {}, { location: 'http://127.0.0.1:9/' }), /it could not be asked/],
  ['takes only a part', json(200, { partialSuccess: { rejectedSpans: '3', errorMessage: 'too old' } }), /: too old$/],
])('one that %s: nothing is sent twice, it is counted and told', async (_what, behaviour, reason) => {
  open = await openTracedPlace(options)
  open.collector.next(behaviour)
  const { id } = await runs(open)
  await open.spansOf(id)
  const isAway = _what.startsWith('redirects')
  expect(told(open)).toMatchObject([
    { reason: reason instanceof RegExp ? expect.stringMatching(reason) : reason, dropped: isAway ? 0 : 3 },
  ])
  expect(open.collector.requests).toHaveLength(1)
  expect(JSON.stringify(open.logged)).not.toContain('canary')
})

test('without the value of a header nothing is sent, and what is missing is said', async () => {
  open = await openTracedPlace({ ...options, keys: new Map() })
  expect((await runs(open)).end).toBe('run:completed')
  await open.place.place.world.telemetry?.flush(2_000)
  expect(open.logged.join('\n')).toMatch(/no span is sent: environment variable OTLP_AUTH, header \\"authorization\\"/)
  expect(told(open)).toMatchObject([{ reason: 'it could not be asked (telemetry_key_missing)' }])
  expect(open.collector.requests).toEqual([])
})
