import { EXTRACTIVE_NOTE, isCountNote, MORE_MAY_FIT, NONE_QUOTED, NOT_JUDGED } from './answer-notes.ts'
import { noAnswer } from './degraded-result.ts'
import { plainWords } from './question-terms.ts'

/**
 * Whether a line is one of ours about the answer, word for word: it claims nothing, so it need not cite. A model that
 * writes `Note:` before a claim has claimed it.
 */
export function isOwnLine(line: string, topic: string): boolean {
  if ([EXTRACTIVE_NOTE, MORE_MAY_FIT, NONE_QUOTED, NOT_JUDGED, noAnswer(topic)].includes(line)) return true
  if (isCountNote(line)) return true
  const words = /^Note: no evidence linked to the question says: (.*)\.$/.exec(line)?.[1]
  const asked = new Set(plainWords(topic))
  return words?.split(', ').every((word) => asked.has(word)) === true
}

/** A no answer and notes on it, and nothing else: it claims nothing, so there is nothing it could cite. */
export function isHonestNoAnswer(synthesis: string, topic: string): boolean {
  const lines = synthesis.split('\n').filter((line) => line.trim() !== '')
  return lines[0] === noAnswer(topic) && lines.every((line) => isOwnLine(line, topic))
}
