import type { Mutant } from '../mutant.ts'

export const restEndsSlotless: Mutant = {
  name: 'rest-ends-slotless',
  what: 'a run that rested goes on without taking a slot',
  store: (store) => ({
    ...store,
    async takeLease(pool, holder, until, cap) {
      const head = pool.name === 'runs' ? await store.head({ tenant: pool.tenant, run_id: holder }, []) : undefined
      if (head?.state === 'running' && head.resting !== undefined) return true
      return store.takeLease(pool, holder, until, cap)
    },
  }),
}
