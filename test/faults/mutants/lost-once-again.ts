import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import type { Append } from '../../../shared/runs/run-store.ts'
import type { Mutant } from '../mutant.ts'

export const lostOnceAgain: Mutant = {
  name: 'lost-once-again',
  what: 'work that may be done once only and was lost is done again, and nobody is asked',
  store: (store) => ({ ...store, append: (append) => store.append(unasked(append)) }),
}

export function unasked(append: Append): Append {
  const [asked] = append.events
  if (asked?.type !== 'block:asked' || asked.data.about !== 'lost_step' || append.projection === undefined) {
    return append
  }
  const place = ordinal({ ...readOrdinal(append.ordinal), phase: PHASE.retrying })
  const failure = { code: 'ATTEMPT_LOST', reason: asked.data.reason }
  const { asked: _, ...projection } = append.projection
  return {
    ...append,
    ordinal: place,
    events: [{ ...asked, type: 'block:retrying', data: { ...failure, due_at: append.at } }],
    projection: { ...projection, ordinal: place, state: 'retrying', due_at: append.at, failure, untried: 1 },
  }
}
