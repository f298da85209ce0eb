import { expect } from 'vitest'

/** Tries of each size, in turns; the fastest says what the work costs, the others what else the machine did. */
const TRIES = 5
/** What a timer and a garbage collector may add; quadratic work at these sizes takes seconds. */
const NOISE_MS = 40

/** Expects that twice the input costs less than three times the time. */
export async function expectLinear(work: (size: number) => Promise<unknown>, size: number): Promise<void> {
  const cost = { once: Number.POSITIVE_INFINITY, twice: Number.POSITIVE_INFINITY }
  for (let turn = 0; turn < TRIES; turn += 1) {
    cost.once = Math.min(cost.once, await millisecondsOf(() => work(size)))
    cost.twice = Math.min(cost.twice, await millisecondsOf(() => work(2 * size)))
    if (cost.twice < 3 * cost.once + NOISE_MS) break
  }
  expect(cost.twice).toBeLessThan(3 * cost.once + NOISE_MS)
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
