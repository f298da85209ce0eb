import type { DispatchAnswer } from '../../shared/provider.ts'
import { shortText } from './short-text.ts'
import { wholeMicros, wholeTokens } from './whole-amounts.ts'

/** Characters of a model's name, a finish reason or a note in block:output. */
const MOST_WORDS = 300

/**
 * What adapters say of an attempt's calls, as an event may carry it: no negative counts, no endless words; one call
 * without a price makes the price of all unknown. A repair is paid for like the answer it mends.
 */
export function measuredFacts({ model, finish_reason, note }: DispatchAnswer, answers: readonly DispatchAnswer[]) {
  const sum = (of: (answer: DispatchAnswer) => number) => answers.reduce((total, answer) => total + of(answer), 0)
  const isPriced = answers.every(({ usd }) => usd !== undefined && usd >= 0)
  return {
    model: shortText(model, MOST_WORDS),
    tokens_in: sum((answer) => wholeTokens(answer.tokens_in)),
    tokens_out: sum((answer) => wholeTokens(answer.tokens_out)),
    ...(isPriced ? { usd_micros: wholeMicros(sum(({ usd = 0 }) => usd)) } : {}),
    finish_reason: shortText(finish_reason, MOST_WORDS),
    ...(note === undefined ? {} : { note: shortText(note, MOST_WORDS) }),
  }
}
