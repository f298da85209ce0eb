import type { Mutant } from '../mutant.ts'

export const countedJoins: Mutant = {
  name: 'counted-joins',
  what: 'a join counts its signals instead of keeping the set of who signalled',
  store: (store) => {
    let count = 0
    return {
      ...store,
      signalJoin(run, join, source) {
        count += 1
        return store.signalJoin(run, join, `${source}/${count}`)
      },
    }
  },
}
