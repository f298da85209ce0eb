import type { Mutant } from '../mutant.ts'

export const readerRepeats: Mutant = {
  name: 'reader-repeats',
  what: 'a reader that goes on from a seq is given that event again',
  store: (store) => ({
    ...store,
    events: (run, since, limit) => store.events(run, Math.max(0, since - 1), limit),
  }),
}
