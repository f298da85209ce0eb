import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Alarm, createAlarms } from '../../../../infra/local/asl/execution-context.ts'
import { createVirtualClock } from '../../../conformance/virtual-clock.ts'

describe('alarms', () => {
  test('ring once, in order of time, never early, unless cancelled', async () => {
    const order = fc.array(fc.record({ in_ms: fc.integer({ min: 0, max: 200 }), cancel: fc.boolean() }), {
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(order, async (wanted) => {
        const clock = createVirtualClock(0)
        const alarms = createAlarms(clock)
        const rung: number[] = []
        const set: (readonly [Alarm, boolean])[] = wanted.map(({ in_ms, cancel }) => [
          alarms.set(in_ms, () => {
            expect(clock.now()).toBe(in_ms)
            rung.push(in_ms)
          }),
          cancel,
        ])
        for (const [alarm, cancel] of set) if (cancel) alarms.cancel(alarm)
        await clock.advance(201)
        const expected = wanted.filter(({ cancel }) => !cancel).map(({ in_ms }) => in_ms)
        expect(rung).toEqual(expected.toSorted((a, b) => a - b))
        expect(clock.pending()).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
  test('ring in order when one from the middle is cancelled', async () => {
    const clock = createVirtualClock(0)
    const alarms = createAlarms(clock)
    const rung: number[] = []
    const set = [12, 13, 5, 7, 23, 2, 3].map((at) => alarms.set(at, () => rung.push(at)))
    for (const alarm of set) if (alarm.at === 13) alarms.cancel(alarm)
    await clock.advance(30)
    expect(rung).toEqual([2, 3, 5, 7, 12, 23])
  })
  test('reach times further than setTimeout can', async () => {
    const clock = createVirtualClock(0)
    const alarms = createAlarms(clock)
    const year = 365 * 86_400_000
    let rung = 0
    alarms.set(year, () => {
      rung += 1
    })
    await clock.advance(year - 1)
    expect(rung).toBe(0)
    await clock.advance(1)
    expect(rung).toBe(1)
  })
  test('use one delay for any number, and none after clear()', async () => {
    const clock = createVirtualClock(0)
    const alarms = createAlarms(clock)
    for (let at = 1_000; at > 0; at -= 1) alarms.set(at, () => undefined)
    expect(clock.pending()).toBe(1)
    alarms.clear()
    await clock.settle()
    expect(clock.pending()).toBe(0)
  })
})
