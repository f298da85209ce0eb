import type { Mutant } from '../mutant.ts'

export const itemsDispatchedOn: Mutant = {
  name: 'items-dispatched-on',
  what: 'items are dispatched though more have failed than their block tolerates',
  store: (store) => ({
    ...store,
    append({ item_of, ...append }) {
      if (item_of === undefined) return store.append(append)
      const { block, below } = item_of
      return store.append({ ...append, item_of: { block, below } })
    },
  }),
}
