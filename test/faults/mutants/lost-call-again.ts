import type { Append } from '../../../shared/runs/run-store.ts'
import { questionItem } from '../../../shared/runs/turns-and-calls.ts'
import type { Mutant } from '../mutant.ts'
import { unasked } from './lost-once-again.ts'

export const lostCallAgain: Mutant = {
  name: 'lost-call-again',
  what: "an agent's call that writes and may have been done is made again, and nobody is asked",
  store: (store) => ({ ...store, append: (append) => store.append(isOfCall(append) ? unasked(append) : append) }),
}

function isOfCall({ events: [first] }: Append): boolean {
  return first?.type === 'block:asked' && questionItem(first.data.approval_id) !== undefined
}
