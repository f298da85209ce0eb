import type { Mutant } from '../mutant.ts'

export const spendAfterCall: Mutant = {
  name: 'spend-after-call',
  what: 'nothing is reserved before a call: what it cost is added after it',
  store: (store) => ({
    ...store,
    append({ reserve: _never, settle, ...append }) {
      return store.append({ ...append, ...(settle === undefined ? {} : { settle: { ...settle, reserved: NOTHING } }) })
    },
  }),
}

const NOTHING = { tokens: 0, usd_micros: 0 } as const
