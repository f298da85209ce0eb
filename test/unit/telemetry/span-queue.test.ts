import { describe, expect, test } from 'vitest'
import { createSpanQueue, type Posted } from '../../../functions/telemetry/span-queue.ts'
import type { Span } from '../../../shared/telemetry/otlp-spans.ts'

/** The queue without a network: what is posted is decided here, and so is the time. */
function open(post: (count: number) => Posted = () => ({ kind: 'taken', rejected: 0 })) {
  const sent: number[] = []
  const told: unknown[] = []
  const clock = { now: 0 }
  const queue = createSpanQueue({
    post: async (spans) => {
      sent.push(spans.length)
      return post(sent.length)
    },
    tell: (message, facts) => told.push([message, facts]),
    now: () => clock.now,
    every_ms: 0,
  })
  const add = (count: number) => queue.add(Promise.resolve(Array.from({ length: count }, span)))
  return { queue, sent, told, clock, add }
}

const span = (): Span => ({
  trace_id: 'a'.repeat(32),
  span_id: 'b'.repeat(16),
  name: 'x',
  kind: 'internal',
  began: 1,
  ended: 2,
  attributes: {},
  failed: false,
  links: [],
})

describe('createSpanQueue()', () => {
  test('sends what waits in requests of 512, and what comes late with the next flush', async () => {
    const { queue, sent, add } = open()
    add(1_100)
    await queue.flush(1_000)
    expect(sent).toEqual([512, 512, 76])
    await queue.flush(1_000)
    add(1)
    await queue.flush(1_000)
    expect(sent).toEqual([512, 512, 76, 1])
  })

  test('holds 4,096 and counts what it has no room for, once told', async () => {
    const { queue, sent, told, clock, add } = open((n) =>
      n === 1 ? { kind: 'later', why: 'it answered 503' } : { kind: 'taken', rejected: 0 },
    )
    add(4_096)
    add(10)
    add(5)
    await queue.flush(1_000)
    expect(told).toEqual([
      ['spans do not reach their collector', { reason: '4096 wait already', dropped: 10, waiting: 4_096 }],
    ])
    clock.now += 1_000
    await queue.flush(1_000)
    expect(sent.slice(1).reduce((sum, n) => sum + n, 0)).toBe(4_096)
    expect(told.at(-1)).toEqual(['spans reach their collector again', { dropped: 15 }])
  })

  test('leaves a collector that fails alone for 1, 2, 4 .. 30 seconds, or as long as it says', async () => {
    const { queue, sent, clock, add } = open(() => ({ kind: 'later', why: 'x' }))
    add(1)
    const pauses: number[] = []
    for (let tries = sent.length; tries < 8; tries = sent.length) {
      const from = clock.now
      for (await queue.flush(100); sent.length === tries; await queue.flush(100)) clock.now += 500
      pauses.push((clock.now - from) / 1_000)
    }
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 30, 30])
    const told = open(() => ({ kind: 'later', why: 'x', wait_ms: 7_000 }))
    told.add(1)
    await told.queue.flush(100)
    told.clock.now = 6_999
    await told.queue.flush(100)
    expect(told.sent).toHaveLength(1)
    told.clock.now = 7_000
    await told.queue.flush(100)
    expect(told.sent).toHaveLength(2)
  })

  test('a flush ends when its time is over, though a request or a span is not there yet', async () => {
    const never = createSpanQueue({
      post: () => new Promise(() => undefined),
      tell: () => undefined,
      now: () => 0,
      every_ms: 0,
    })
    never.add(new Promise(() => undefined))
    never.add(Promise.resolve([span()]))
    // The test's own timer keeps the process alive; those of the queue do not.
    const alive = setInterval(() => undefined, 1_000)
    // Neither is ever there: a flush that waited for one would not end.
    await never.flush(50)
    clearInterval(alive)
  })

  test('spans that cannot be known are counted, and nothing is thrown', async () => {
    const { queue, sent, told } = open()
    queue.add(Promise.reject(new Error('the store is away')))
    await queue.flush(100)
    expect([sent, told]).toEqual([
      [],
      [['spans do not reach their collector', { reason: 'the log could not be read', dropped: 1, waiting: 0 }]],
    ])
  })
})
