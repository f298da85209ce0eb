import type { Mutant } from '../mutant.ts'

const DAY_MS = 86_400_000

export const checkMovedLater: Mutant = {
  name: 'check-moved-later',
  what: 'a writer moves the next look at the run to its own time, though it is later',
  store: (store) => ({
    ...store,
    async append(append) {
      const done = await store.append(append)
      const now = done.ok ? (await store.head(append.run, []))?.check_at : undefined
      if (now !== undefined) {
        await store.moveCheck(append.run, now, new Date(Date.parse(append.at) + DAY_MS).toISOString())
      }
      return done
    },
  }),
}
