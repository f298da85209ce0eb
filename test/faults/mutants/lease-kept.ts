import type { Mutant } from '../mutant.ts'

export const leaseKept: Mutant = {
  name: 'lease-kept',
  what: 'a lease is never dropped',
  store: (store) => ({ ...store, dropLease: async () => {} }),
}
