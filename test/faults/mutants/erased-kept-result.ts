import type { Mutant } from '../mutant.ts'

export const erasedKeptResult: Mutant = {
  name: 'erased-kept-result',
  what: 'a result that is kept for other runs stays when its own run is erased',
  store: (store) => ({ ...store, dropCached: async () => undefined }),
}
