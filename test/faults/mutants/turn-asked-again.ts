import { TURN_PORT } from '../../../shared/agents/turn-record.ts'
import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import type { Append } from '../../../shared/runs/run-store.ts'
import type { Mutant } from '../mutant.ts'

export const turnAskedAgain: Mutant = {
  name: 'turn-asked-again',
  what: 'a turn of an agent whose answer is recorded counts as lost, and its model is asked once more',
  store: (store) => ({ ...store, append: (append) => store.append(lostAfterAnswer(append)) }),
}

function lostAfterAnswer(append: Append): Append {
  const { events, projection, at } = append
  const answered = events.some(({ type, data }) => type === 'block:output' && Object.hasOwn(data.outputs, TURN_PORT))
  const last = events.at(-1)
  const place = readOrdinal(append.ordinal)
  if (!answered || last?.type !== 'block:completed' || projection === undefined || place.attempt > 1) return append
  const back = ordinal({ ...place, phase: PHASE.retrying })
  const failure = { code: 'ATTEMPT_LOST', reason: 'it was not heard of' }
  return {
    ...append,
    ordinal: back,
    events: [...events.slice(0, -1), { ...last, type: 'block:retrying', data: { ...failure, due_at: at } }],
    projection: { ...projection, ordinal: back, state: 'retrying', due_at: at, failure, untried: 1 },
  }
}
