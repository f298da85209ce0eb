import type { Act } from './acts.ts'
import type { Random } from './rng.ts'

const FIRST_ENTRY = 7_000

interface Plan {
  readonly runs: number
  readonly until: number
  /** Some runs wait for a place. */
  readonly queues: boolean
}

/** Of the seeds in which runs wait for a place: a crowd doubles what a seed has to do. */
const CROWDED = 0.4

/**
 * Runs that come in while something else happens to those that come in: while starts are put on hold, and where places are
 * few while others come as well. And now and then the machines are looked through that runs left behind.
 */
export function planEntries(random: Random, { runs, until, queues }: Plan): readonly Act[] {
  const act = (id: number, kind: Act['kind'], latest: number): Act => {
    const dice = [random(), random(), random()] as const
    return { id: FIRST_ENTRY + id, at: random() ** 2 * latest, kind, run: Math.floor(random() * runs), dice }
  }
  const held = random() < 0.2 ? [act(0, 'enter_held', until)] : []
  const crowd = queues && random() < CROWDED ? [1, 2, 3].map((id) => act(id, 'enter_crowd', 1_000)) : []
  const partial = random() < (queues ? 0.9 : 0.3) ? [act(4, 'pivot_at_once', 1_000)] : []
  const clears = random() < 0.02 ? [act(5, 'clear_machines', until)] : []
  return [...held, ...crowd, ...partial, ...clears]
}
