import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextTimes } from '../../../shared/triggers/schedule.ts'
import { atMost } from '../../how-much.ts'
import { clockChanges, walkedTimes } from './walked-times.ts'

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Pacific/Chatham',
  'UTC',
]
const numbers = (min: number, max: number) =>
  fc
    .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 })
    .map((all) => all.toSorted((a, b) => a - b).join(','))
const minutes = fc.oneof(numbers(0, 59), fc.constantFrom('0', '30', '*/30', '15-45/15', '*/20'))
const hours = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('0', '1', '2', '3', '0-3', '1,2', '*/2', '*', '2-4/2') },
  { weight: 1, arbitrary: numbers(0, 23) },
)
const days = fc.constantFrom('*', '*', '*', '1-15', '*/2', '28-31')
const weekdays = fc.constantFrom('*', '*', '*', '1-5', '0', '7', '6,0')
const crons = fc.tuple(minutes, hours, days, weekdays).map(([m, h, d, w]) => `${m} ${h} ${d} * ${w}`)
const DAY_MS = 86_400_000

test('times of nine days around a change of the clocks are those that are found by walking through each minute', () => {
  const year = fc.integer({ min: 2024, max: 2034 })
  fc.assert(
    fc.property(crons, fc.constantFrom(...ZONES), year, fc.nat(), (cron, timezone, of, n) => {
      const changes = clockChanges(timezone, of)
      const from = (changes[n % Math.max(1, changes.length)] ?? Date.UTC(of, 5, 1)) - 3 * DAY_MS
      const walked = walkedTimes(cron, timezone, from, from + 9 * DAY_MS)
      const found = nextTimes({ cron, timezone }, from, walked.length + 3).filter((time) => time <= from + 9 * DAY_MS)
      const told = (times: readonly number[]) => times.map((time) => new Date(time).toISOString())
      expect(told(found)).toEqual(told(walked))
    }),
    { numRuns: atMost(300, 25) },
  )
})
