import type { Mutant } from '../mutant.ts'

export const renewedByAnybody: Mutant = {
  name: 'renewed-by-anybody',
  what: 'a lease is renewed by who has lost it',
  store: (store) => ({
    ...store,
    async renewLease(run, of, holder, lease_until) {
      const found =
        of.item === undefined
          ? await store.projections(run, [of.block])
          : await store.itemProjections(run, of.block, [of.item])
      await store.renewLease(run, of, found[0]?.holder ?? holder, lease_until)
      return true
    },
  }),
}
