import { beforeAll, describe, expect, test } from 'vitest'
import { liveWeek, planWeek } from '../../faults/firing-weeks.ts'
import { loadHandlers } from '../../faults/functions.ts'
import { atMost } from '../../how-much.ts'

/**
 * Weeks of virtual time around a change of the clocks, with schedules, time zones and standstills drawn from a seed, on both
 * stores, while functions die, are called twice and are told that nothing was written: by walked times each firing is one run,
 * and what passed in a standstill is made up for, or counted as missed, as declared.
 */
beforeAll(() => loadHandlers())

const SEEDS = Array.from({ length: atMost(12, 2) }, (_, i) => i + 1)

describe.each(['sqlite', 'dynamodb'] as const)('a week on %s', (store) => {
  test.each(SEEDS)('of seed %i', async (seed) => {
    const { violations, found, faults } = await liveWeek(seed, store)
    expect(violations).toEqual([])
    for (const { trigger, schedule, found: came, expected } of found)
      expect([trigger, schedule, came]).toEqual([trigger, schedule, expected])
    expect(found.some(({ expected }) => expected.times.length > 0)).toBe(true)
    expect(faults).toBeGreaterThan(20)
  })
})

test('weeks are those of both changes of the clocks, with standstills over them, before and after', () => {
  const weeks = Array.from({ length: 40 }, (_, i) => planWeek(i + 1))
  const months = new Set(weeks.map(({ start }) => new Date(start).getUTCMonth()))
  expect([...months].some((month) => month < 6) && [...months].some((month) => month > 6)).toBe(true)
  expect(weeks.every(({ standstills }) => standstills.length > 0)).toBe(true)
  const covered = weeks.filter(({ start, standstills }) => {
    const change = start + 3.2 * 86_400_000
    return standstills.some(([from, to]) => from < change && to > change)
  })
  expect(covered.length).toBeGreaterThan(5)
  expect(covered.length).toBeLessThan(weeks.length)
})
