import type { Mutant } from '../mutant.ts'

export const pauseCounted: Mutant = {
  name: 'pause-counted',
  what: 'the deadlines of a run, and of what it asks, run on while it is paused',
  store: (store) => ({
    ...store,
    append(append) {
      if (append.pause !== null) return store.append(append)
      const { deadline_at: _, further_approvals: __, ...rest } = append
      return store.append(rest)
    },
  }),
}
