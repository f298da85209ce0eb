import type { Mutant } from '../mutant.ts'

export const leaseOverCap: Mutant = {
  name: 'lease-over-cap',
  what: 'a lease is taken while there are as many as there may be',
  store: (store) => ({
    ...store,
    takeLease: (pool, holder, until, cap) => store.takeLease(pool, holder, until, cap + 1),
  }),
}
