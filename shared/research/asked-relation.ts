import { termsOf } from './question-terms.ts'

/**
 * What a question asks about its subject: the words before `of` (`the capital of Peru`), else the first ones after the
 * question word (`which languages are ..`), else all of them. Names it may hold are for the caller to take out.
 */
export function askedRelation(topic: string): readonly string[] {
  const before = /((?:[\p{L}\p{N}'’-]{1,40} ){1,2})of /iu.exec(topic)?.[1]
  if (before !== undefined && termsOf(before).length > 0) return termsOf(before)
  const after = /\b(?:what|which|whose|how many|how much) ((?:[\p{L}\p{N}'’-]{1,40} ?){1,2})/iu.exec(topic)?.[1]
  return after !== undefined && termsOf(after).length > 0 ? termsOf(after) : termsOf(topic)
}
