import type { Mutant } from '../mutant.ts'

export const resumeLost: Mutant = {
  name: 'resume-lost',
  what: 'a run that goes on answers nobody who waited for that',
  store: (store) => ({
    ...store,
    append(append) {
      if (append.pause !== null) return store.append(append)
      const outbox = (append.outbox ?? []).filter(({ kind }) => kind !== 'answer_wait')
      return store.append({ ...append, outbox })
    },
  }),
}
