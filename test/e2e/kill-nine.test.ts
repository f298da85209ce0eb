import { expect, test } from 'vitest'
import { killAtRandom } from './kill-nine.ts'

/** `npm run test:kill` does it 200 times. */
const POINTS = 10

test('killed at any moment, the server goes on with every run in under 2 s, and each ends right', async () => {
  const { kills, wrong, sent_twice, runs } = await killAtRandom(POINTS, 9)
  expect(wrong).toEqual([])
  expect(sent_twice).toEqual([])
  expect([kills.length, runs]).toEqual([POINTS, expect.any(Number)])
  expect(kills.filter(({ resumed_ms }) => resumed_ms >= 2_000)).toEqual([])
  expect(kills.reduce((sum, { live }) => sum + live, 0)).toBeGreaterThan(POINTS)
})
