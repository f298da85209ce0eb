import type { TestPlace } from './test-place.ts'

/** Calls of ports that change something, in the order they come. */
const STEPS = {
  runs: ['create', 'append', 'settleOutbox', 'signalJoin', 'moveCheck', 'putStop'],
  machine: ['start', 'answer', 'stop'],
  objects: ['put'],
} as const

/**
 * Lets the process hang at its n-th step, before or after it: from then on nothing it does arrives. Answers how many
 * steps were taken so far, and a promise of that moment.
 */
export function hangAt({ place }: TestPlace, n: number, when: 'before' | 'after') {
  const counts = { steps: 0 }
  const reached = Promise.withResolvers<void>()
  const dead = Promise.withResolvers<never>()
  dead.promise.catch(() => undefined)
  for (const [port, names] of Object.entries(STEPS)) {
    const target = place.world[port as keyof typeof STEPS] as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >
    for (const name of names) {
      const call = target[name]?.bind(target)
      target[name] = async (...args) => {
        counts.steps += 1
        const mine = counts.steps
        if (mine > n || (mine === n && when === 'before')) {
          reached.resolve()
          return dead.promise
        }
        const answer = await call?.(...args)
        if (mine !== n) return answer
        reached.resolve()
        return dead.promise
      }
    }
  }
  return { counts, reached: reached.promise, die: () => dead.reject(new Error('killed')) }
}
