import { expect, test } from 'vitest'
import { atMost } from '../how-much.ts'
import { loadRuns } from './load.ts'

/** `npm run test:load` does it with 1,000. */
const RUNS = atMost(100, 50)

test('runs that are all under way at once end right, and leave no memory behind', { tags: ['thorough'] }, async () => {
  const { rounds, wrong, together } = await loadRuns(RUNS)
  expect(wrong).toEqual([])
  expect(together).toBe(RUNS)
  const [first = 0, , last = 0] = rounds.map(({ heap }) => heap)
  expect(last - first).toBeLessThan(8 * 1_048_576)
})
