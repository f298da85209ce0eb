import type { Mutant } from '../mutant.ts'

export const restSlotKept: Mutant = {
  name: 'rest-slot-kept',
  what: 'a run that begins to rest keeps its slot among the active runs',
  store: (store) => ({
    ...store,
    async dropLease(pool, holder, until) {
      const head = pool.name === 'runs' ? await store.head({ tenant: pool.tenant, run_id: holder }, []) : undefined
      if (head?.state === 'running' && head.resting !== undefined) return
      await store.dropLease(pool, holder, until)
    },
  }),
}
