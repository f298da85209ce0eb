import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { giveUpAt, retryAt } from '../../../shared/webhooks/endpoint-deliveries.ts'

const DAY_MS = 86_400_000
const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('retryAt()', () => {
  test('waits 10 s, then three times as long each time, up to 4 hours', () => {
    const waits = Array.from(
      { length: 10 },
      (_, i) => retryAt({ tries: i + 1, now: 0, expires: DAY_MS, dice: 0 }) / 1_000,
    )
    expect(waits).toEqual([10, 30, 90, 270, 810, 2_430, 7_290, 14_400, 14_400, 14_400])
  })

  test('a message of a dead endpoint is tried 13 to 20 times in a day', () => {
    fc.assert(
      fc.property(fc.array(dice, { minLength: 40, maxLength: 40 }), (throws) => {
        let now = 0
        let tries = 1
        for (; now < DAY_MS; tries += 1) now = retryAt({ tries, now, expires: DAY_MS, dice: throws[tries] ?? 0 })
        expect(now).toBe(DAY_MS)
        expect(tries).toBeGreaterThanOrEqual(13)
        expect(tries).toBeLessThanOrEqual(21)
      }),
      { numRuns: 100 },
    )
  })

  test('is later than now, by at least half of the longest wait, and never after the message expires', () => {
    const asked = fc.record({
      tries: fc.integer({ min: 1, max: 1_000 }),
      left: fc.integer({ min: 1, max: 3 * DAY_MS }),
      retry_after_ms: fc.option(fc.integer({ min: 1, max: 10 * DAY_MS }), { nil: undefined }),
      dice,
    })
    fc.assert(
      fc.property(asked, ({ tries, left, retry_after_ms, dice: thrown }) => {
        const now = 1_000_000
        const at = retryAt({ tries, now, expires: now + left, retry_after_ms, dice: thrown })
        const longest = Math.min(14_400_000, 10_000 * 3 ** (tries - 1))
        expect(at).toBeGreaterThanOrEqual(now + Math.floor(Math.min(left, Math.max(longest / 2, retry_after_ms ?? 0))))
        expect(at).toBeLessThanOrEqual(now + left)
      }),
      { numRuns: 200 },
    )
  })

  test('waits as long as the endpoint asked for', () => {
    const asked = { tries: 1, now: 0, expires: DAY_MS, dice: 0.5 }
    expect(retryAt({ ...asked, retry_after_ms: 120_000 })).toBe(120_000)
    expect(retryAt({ ...asked, retry_after_ms: 1_000 })).toBe(7_500)
    expect(retryAt({ ...asked, retry_after_ms: 9 * DAY_MS })).toBe(DAY_MS)
  })
})

test('expiryOf() counts from the event, or from the first failure since the endpoint took something', () => {
  const event = '2026-01-01T00:00:00.000Z'
  const later = '2026-01-01T05:00:00.000Z'
  expect(giveUpAt(event, later, 60)).toBe(Date.parse(later) + 60_000)
  expect(giveUpAt(later, event, 60)).toBe(Date.parse(later) + 60_000)
})
