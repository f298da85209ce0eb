import type { BlockCall } from './block-call.ts'
import { openAsk } from './open-ask.ts'
import { givenAnswer } from './read-answer.ts'

/**
 * The call as it goes on where a person said yes in the middle of its attempt; the same one where nobody was asked.
 * undefined: the block state has to end the attempt, or to wait, first.
 */
export async function resumedCall(call: BlockCall): Promise<BlockCall | undefined> {
  const ask = await openAsk(call)
  if (ask === undefined) return call
  const yes = await givenAnswer(call, ask)
  const isDone = ask.about === 'post_gates' || ask.events.some(({ type }) => type === 'block:output')
  return yes?.kind !== 'yes' || isDone ? undefined : { ...call, resumed: { ask, yes } }
}
