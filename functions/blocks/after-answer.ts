import type { BlockCall } from './block-call.ts'
import type { BlockReport } from './block-report.ts'
import { completeWaived, judgeRest, refuseAsked } from './end-asked.ts'
import { giveUpIfEdited } from './give-up-asked.ts'
import { openAsk } from './open-ask.ts'
import { readAnswer } from './read-answer.ts'

/**
 * What is left to do for an attempt a person was asked about: its end, as the answer has it, or `next`, its work, which
 * it had not done yet. Nobody has answered: AskPerson. `next` as it is where nobody was asked.
 */
export async function afterAnswer(
  call: BlockCall,
  next: (call: BlockCall) => Promise<BlockReport>,
): Promise<BlockReport> {
  const ask = await openAsk(call)
  if (ask === undefined) return next(call)
  const answer = await readAnswer(call, ask)
  if (answer.kind === 'no') return refuseAsked(call, ask, answer)
  if (ask.about === 'post_gates') return completeWaived(call, ask, answer)
  if (ask.events.some(({ type }) => type === 'block:output')) return judgeRest(call, ask)
  await giveUpIfEdited(call, ask)
  return next({ ...call, resumed: { ask, yes: answer } })
}
