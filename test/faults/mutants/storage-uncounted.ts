import type { Mutant } from '../mutant.ts'

export const storageUncounted: Mutant = {
  name: 'storage-uncounted',
  what: 'an append does not carry the bytes of the bodies that were stored for it',
  store: (store) => ({
    ...store,
    append({ stored_bytes: _never, ...append }) {
      return store.append(append)
    },
  }),
}
