import type { Mutant } from '../mutant.ts'

export const stopWithoutOutbox: Mutant = {
  name: 'stop-without-outbox',
  what: 'the update that ends a run does not owe the stop of its execution',
  store: (store) => ({
    ...store,
    append: ({ outbox = [], ...append }) =>
      store.append({ ...append, outbox: outbox.filter(({ kind }) => kind !== 'stop_execution') }),
  }),
}
