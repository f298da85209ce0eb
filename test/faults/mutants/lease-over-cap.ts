import type { Mutant } from '../mutant.ts'

export const leaseOverCap: Mutant = {
  name: 'lease-over-cap',
  what: 'whether there is room for a lease is looked up before it is taken',
  store: (store) => ({
    ...store,
    async takeLease(pool, holder, until, cap) {
      const held = Object.keys(await store.leases(pool))
      if (held.length >= cap && !held.includes(holder)) return false
      return store.takeLease(pool, holder, until, Number.MAX_SAFE_INTEGER)
    },
  }),
}
