import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Alarm, breathsInTurns, createAlarms } from '../../../../infra/local/asl/execution-context.ts'
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

describe('turns of the event loop', () => {
  test('however many executions and branches there are, so many steps are taken in one, in the order in which they came', async () => {
    const breathe = breathsInTurns(() => false)
    const turns: number[] = []
    const order: number[] = []
    let taken = 0
    let running = 1_000
    const watch = () => {
      turns.push(taken)
      taken = 0
      if (running > 0) setImmediate(watch)
    }
    const execution = async (n: number) => {
      for (let left = 5; left > 0; left -= 1) {
        await breathe()
        taken += 1
        order.push(n)
      }
      running -= 1
    }
    setImmediate(watch)
    const all = Array.from({ length: running }, (_, n) => n)
    await Promise.all(all.map(execution))
    expect(Math.max(...turns)).toBeLessThanOrEqual(64)
    expect(turns.length).toBeLessThan((1_000 * 5) / 64 + 10)
    // Nobody has his second step before the last one had the first, but for those of the first turn.
    expect(new Set(order.slice(0, 1_064)).size).toBe(1_000)
  })

  test('a commit that somebody waits for goes before further steps, and never holds them up for good', async () => {
    let isDue = true
    const seen: string[] = []
    const breathe = breathsInTurns(() => isDue)
    for (let step = 1; step <= 64; step += 1) expect(breathe()).toBeUndefined()
    const first = breathe()?.then(() => void seen.push('step'))
    setImmediate(() => {
      isDue = false
      seen.push('commit')
    })
    await first
    expect(seen).toEqual(['commit', 'step'])
    isDue = true
    for (let step = 1; step < 64; step += 1) expect(breathe()).toBeUndefined()
    await breathe()
  })
})
