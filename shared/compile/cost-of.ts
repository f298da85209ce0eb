import { JOIN_COST, PARALLEL_COST, SIGNAL_COST } from './costs.ts'
import type { Steps } from './flatten.ts'

/** What machines of the same blocks are compared by. */
export function costOf(steps: Steps): number {
  let cost = 0
  const rows = [steps]
  for (const row of rows) {
    for (const step of row) {
      if (step.kind === 'wait') cost += JOIN_COST + SIGNAL_COST * step.join.sources.length
      if (step.kind === 'par') {
        cost += PARALLEL_COST
        rows.push(...step.branches)
      }
    }
  }
  return cost
}
