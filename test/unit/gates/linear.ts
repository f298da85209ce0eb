import { expect } from 'vitest'

/** Tries of each size, in turns; the cheapest says what the work costs. */
const TRIES = 5
/** What a coarse clock and a garbage collector may add; quadratic work at these sizes takes seconds. */
const NOISE_MS = 40

/** Expects that twice the input costs less than three times the time of this thread, however busy the machine is. */
export async function expectLinear(work: (size: number) => unknown, size: number): Promise<void> {
  const cost = { once: Number.POSITIVE_INFINITY, twice: Number.POSITIVE_INFINITY }
  for (let turn = 0; turn < TRIES; turn += 1) {
    cost.once = Math.min(cost.once, await ownMilliseconds(() => work(size)))
    cost.twice = Math.min(cost.twice, await ownMilliseconds(() => work(2 * size)))
    if (cost.twice < 3 * cost.once + NOISE_MS) break
  }
  expect(cost.twice).toBeLessThan(3 * cost.once + NOISE_MS)
}

/** What this thread computed for it, in milliseconds: what it waited for, and what others computed, is not counted. */
async function ownMilliseconds(work: () => unknown): Promise<number> {
  const start = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1_000
}
