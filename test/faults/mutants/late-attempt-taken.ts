import { ordinal, readOrdinal } from '../../../shared/runs/lane.ts'
import type { Append } from '../../../shared/runs/run-store.ts'
import type { Mutant } from '../mutant.ts'

export const lateAttemptTaken: Mutant = {
  name: 'late-attempt-taken',
  what: 'what a lost attempt did is taken as that of the attempt which took its place',
  store: (store) => ({
    ...store,
    async append(append) {
      const done = await store.append(append)
      if (done.ok || done.because !== 'already') return done
      const now = (await store.head(append.run, [append.lane]))?.lanes[append.lane]
      const later = now === undefined ? undefined : asOf(append, now)
      return later === undefined ? done : store.append(later)
    },
  }),
}

/** The same step, of the attempt the lane is at now; undefined where that is its own. */
function asOf(append: Append, now: number): Append | undefined {
  const [mine, theirs] = [readOrdinal(append.ordinal), readOrdinal(now)]
  if (mine.attempt === 0 || mine.attempt >= theirs.attempt) return undefined
  const place = ordinal({ ...theirs, phase: mine.phase })
  return place <= now ? undefined : { ...append, ordinal: place, guard: { below: place } }
}
