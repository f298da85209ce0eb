import { invariant } from './invariant.ts'

export const eventIds = invariant({
  n: 2,
  title: 'no event id stands twice',
  of: 'log',
  needs: ['events'],
  check({ events }) {
    const seen = new Map<string, number>()
    return events.flatMap(({ id, seq }) => {
      const earlier = seen.get(id)
      seen.set(id, seq)
      return earlier === undefined ? [] : [`events ${earlier} and ${seq} have the id ${id}`]
    })
  },
})
