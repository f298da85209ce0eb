import type { Act } from './acts.ts'
import type { Random } from './rng.ts'

const FIRST_PIVOT = 6_000

/** In half of the seeds people ask now and then for another attempt, some of them at the same moment. */
export function planPivots(
  random: Random,
  { runs, until }: { readonly runs: number; readonly until: number },
): readonly Act[] {
  if (random() < 0.5) return []
  const moments = Array.from({ length: 1 + Math.floor(random() * 4) }, () => random() ** 2 * until)
  return moments.flatMap((at, i) => {
    const people = 1 + Math.floor(random() ** 2 * 4)
    const [which, run] = [random(), Math.floor(random() * runs)]
    return Array.from({ length: people }, (_, n): Act => {
      const dice = [which, random(), random()] as const
      return { id: FIRST_PIVOT + i * 10 + n, at: at + random() * 500, kind: 'pivot', run, dice }
    })
  })
}
