import { WITHIN } from './near-place.ts'
import { TIME_WORDS } from './time-words.ts'

/** A question without the words that became a time range or a box: those chose the evidence, it need not repeat them. */
export function plainQuestion(topic: string): string {
  return topic.replaceAll('_', ' ').replace(WITHIN, ' ').replaceAll(TIME_WORDS, ' ')
}
