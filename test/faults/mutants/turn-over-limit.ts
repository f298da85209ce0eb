import type { Mutant } from '../mutant.ts'

export const turnOverLimit: Mutant = {
  name: 'turn-over-limit',
  what: 'a run takes its turn while as many of its key go on as may',
  store: (store) => ({
    ...store,
    async keyQueue(of) {
      const queue = await store.keyQueue(of)
      return { ...queue, waiting: queue.waiting.map((one) => ({ ...one, limit: one.limit + 1 })) }
    },
  }),
}
