import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cronProblem, dueTimes, nextTimes, ON_TIME_MS, zoneProblem } from '../../../shared/triggers/schedule.ts'
import type { Schedule } from '../../../shared/triggers/trigger.ts'
import { atMost } from '../../how-much.ts'

const times = (cron: string, timezone: string, from: string, count: number) =>
  nextTimes({ cron, timezone }, Date.parse(from), count).map((time) => new Date(time).toISOString().slice(0, 16))

describe('daylight saving', () => {
  test('a time that does not exist comes at the first time there is, once', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ])
    expect(times('0,30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:00',
    ])
    expect(times('0 0 * * *', 'Africa/Cairo', '2026-04-23T12:00:00Z', 1)).toEqual(['2026-04-23T22:00'])
  })
  test('a time that is twice comes at the first', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
    expect(times('30 1-3 * * *', 'Europe/Berlin', '2026-10-24T22:00:00Z', 3)).toEqual([
      '2026-10-24T23:30',
      '2026-10-25T00:30',
      '2026-10-25T02:30',
    ])
  })
  test('what goes by the clock as it passes has nothing in a gap, and everything of an hour that is twice', () => {
    expect(times('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:00',
      '2026-03-29T01:30',
    ])
    expect(times('*/30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 5)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
      '2026-10-26T01:00',
    ])
    expect(times('*/30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 1)).toEqual(['2026-03-30T00:00'])
  })

  const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Kolkata', 'UTC']
  const wall = (time: number, timeZone: string) =>
    new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' }).format(
      time,
    )

  test('a schedule of one hour and minute comes exactly once on each day of a year, wherever', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 2020, max: 2032 }),
        (timezone, hour, minute, year) => {
          const from = Date.UTC(year, 0, 10)
          const found = nextTimes({ cron: `${minute} ${hour} * * *`, timezone }, from, 365)
          const days = found.map((time) => wall(time, timezone).slice(0, 10))
          expect(new Set(days).size).toBe(365)
          expect(found).toEqual(found.toSorted((a, b) => a - b))
          const dayMs = 86_400_000
          const odd = found.filter((time, i) => i > 0 && Math.abs(time - (found[i - 1] ?? 0) - dayMs) > 2 * 3_600_000)
          expect(odd).toEqual([])
        },
      ),
      { numRuns: atMost(40) },
    )
  })

  test('a schedule by the quarter comes each quarter of an hour of real time, whatever the clocks do', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), fc.integer({ min: 0, max: 3_600 }), (timezone, day) => {
        const from = Date.UTC(2024, 0, 1) + day * 86_400_000
        const found = nextTimes({ cron: '*/15 * * * *', timezone }, from, 200)
        expect(found).toEqual(Array.from({ length: 200 }, (_, i) => from + (i + 1) * 900_000))
      }),
      { numRuns: atMost(40) },
    )
  })
})

describe('dueTimes()', () => {
  const hourly: Schedule = { cron: '0 * * * *', timezone: 'UTC', overlap: 'queue', catch_up: 'none' }
  const H = 3_600_000
  const T = Date.UTC(2026, 5, 1)

  test('a look at the time fires it, whatever is made up for', () => {
    for (const catch_up of ['none', 'last', 'all'] as const)
      expect(dueTimes({ ...hourly, catch_up }, T - 1_000, T + 500)).toEqual({
        fire: [T],
        missed: undefined,
        uncounted: false,
      })
  })
  test('after a standstill none, the last or all are made up for', () => {
    const now = T + 5 * H + 30 * 60_000
    const due = (catch_up: Schedule['catch_up'], at = now) => dueTimes({ ...hourly, catch_up }, T, at)
    expect(due('none')).toMatchObject({ fire: [], missed: { count: 5, first: T + H, last: T + 5 * H } })
    expect(due('last')).toMatchObject({ fire: [T + 5 * H], missed: { count: 4, last: T + 4 * H } })
    expect(due('all')).toMatchObject({ fire: [1, 2, 3, 4, 5].map((n) => T + n * H), missed: undefined })
    // One that is on time stands for the last.
    expect(due('last', T + 6 * H)).toMatchObject({ fire: [T + 6 * H], missed: { count: 5 } })
  })
  test('of very many the newest hundred are made up for, and the rest is not counted one by one', () => {
    const minutely: Schedule = { ...hourly, cron: '* * * * *', catch_up: 'all' }
    const now = T + 40 * 24 * H + 30_000
    const { fire, missed, uncounted } = dueTimes(minutely, T, now)
    expect(uncounted).toBe(true)
    expect(fire).toHaveLength(105)
    expect(fire.at(-1)).toBe(now - 30_000)
    expect(fire.every((time, i) => i === 0 || time - (fire[i - 1] ?? 0) === 60_000)).toBe(true)
    expect(missed?.count).toBe(2_000)
  })

  test('however looks are spread, each time is fired or missed exactly once', () => {
    const schedule = fc.record({
      cron: fc.constantFrom('0 * * * *', '30 2 * * *', '*/20 1-3 * * *', '5 0 * * 0', '0,30 2 * * *'),
      timezone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'UTC'),
      overlap: fc.constant('queue' as const),
      catch_up: fc.constantFrom('none' as const, 'last' as const, 'all' as const),
    })
    // Either a look soon after, or one after a standstill.
    const gap = fc.oneof(fc.integer({ min: 1_000, max: 60_000 }), fc.integer({ min: H, max: 40 * H }))
    fc.assert(
      fc.property(
        schedule,
        fc.constantFrom(Date.UTC(2026, 2, 27), Date.UTC(2026, 9, 23), T),
        fc.array(gap, { minLength: 1, maxLength: 40 }),
        (given, start, gaps) => {
          const { fired, missed, cursor } = lookedAt(given, start, gaps)
          const all = nextTimes(given, start, 4_000).filter((time) => time <= cursor)
          expect(fired).toEqual([...new Set(fired)].toSorted((a, b) => a - b))
          expect(fired.every((time) => all.includes(time))).toBe(true)
          expect(fired.length + missed).toBe(all.length)
          expect(given.catch_up !== 'all' || missed === 0).toBe(true)
        },
      ),
      { numRuns: atMost(60) },
    )
  })
})

/** What one look after another fires; of what is late no more than `catch_up` says. */
function lookedAt(schedule: Schedule, start: number, gaps: readonly number[]) {
  const fired: number[] = []
  let missed = 0
  let cursor = start
  for (const ms of gaps) {
    const now = cursor + ms
    const due = dueTimes(schedule, cursor, now)
    const late = due.fire.filter((time) => now - time > ON_TIME_MS).length
    expect(late).toBeLessThanOrEqual({ none: 0, last: 1, all: 100 }[schedule.catch_up])
    fired.push(...due.fire)
    missed += due.missed?.count ?? 0
    cursor = now
  }
  return { fired, missed, cursor }
}

describe('what is no schedule', () => {
  test.each([
    ['', 'it has one field'],
    ['0 6 * *', 'it has 4 fields'],
    ['* * * * * *', 'it has 6 fields'],
    ['0 25 * * *', 'Invalid value for hour: 25'],
    ['*/0 * * * *', 'Syntax error, illegal stepping: 0'],
    ['0 12 L * *', 'its day of the month is "L"'],
    ['0 12 15W * *', 'its day of the month is "15W"'],
    ['0 12 31 2 *', 'it names no day there ever is'],
    ['0 6 * * MON#2', 'its day of the week is "MON#2"'],
    ['@daily', 'it has one field'],
  ])('%s', (cron, why) => {
    expect(cronProblem(cron)).toContain(why)
  })
  test('what is one', () => {
    for (const cron of ['0 6 * * 1-5', '*/15 8-18 * JAN,JUL MON-FRI', '0 0 29 2 *', ' 5  4 * * 7 '])
      expect([cron, cronProblem(cron)]).toEqual([cron, undefined])
  })
  test('time zones', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires'])
      expect([zone, zoneProblem(zone)]).toEqual([zone, undefined])
    expect(zoneProblem('Europe/Berln')).toEqual({ hint: 'Did you mean "Europe/Berlin"?' })
    expect(zoneProblem('europe/berlin')).toEqual({ hint: 'Did you mean "Europe/Berlin"?' })
    for (const zone of ['CET+1', '+01:00', 'Mars/Base', '']) expect(zoneProblem(zone)).toBeDefined()
  })
})
