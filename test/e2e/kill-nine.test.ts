import { expect, test } from 'vitest'
import { atMost } from '../how-much.ts'
import { killAtRandom } from './kill-nine.ts'

/** `npm run test:kill` does it 200 times, and holds it to two seconds. */
const POINTS = atMost(10, 5)

test('killed at any moment, the server goes on with every run, and each ends right', {
  tags: ['thorough'],
  timeout: 600_000,
}, async () => {
  const { kills, wrong, sent_twice, runs } = await killAtRandom(POINTS, 9)
  expect(wrong).toEqual([])
  expect(sent_twice).toEqual([])
  expect([kills.length, runs]).toEqual([POINTS, expect.any(Number)])
  expect(kills.reduce((sum, { live }) => sum + live, 0)).toBeGreaterThan(POINTS)
})
