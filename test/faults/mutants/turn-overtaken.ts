import type { Mutant } from '../mutant.ts'

export const turnOvertaken: Mutant = {
  name: 'turn-overtaken',
  what: 'of those that wait for their turn, the last goes first',
  store: (store) => ({
    ...store,
    async keyQueue(of) {
      const queue = await store.keyQueue(of)
      return { ...queue, waiting: queue.waiting.toReversed() }
    },
  }),
}
