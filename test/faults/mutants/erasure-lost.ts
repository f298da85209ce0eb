import type { Mutant } from '../mutant.ts'

export const erasureLost: Mutant = {
  name: 'erasure-lost',
  what: 'nobody is to look again at an erasure: whoever does it dies, and it stays half done',
  store: (store) => ({
    ...store,
    beginErasure: (run, erasure) => store.beginErasure(run, erasure, undefined),
    moveErasure: (run, to) => store.moveErasure(run, to, undefined),
  }),
}
