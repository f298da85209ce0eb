import { sentencesIn } from '../gates/sentences.ts'
import { quotationsIn } from './quotations.ts'

/** A line of an answer, in sentences; a line that claims nothing (a note, a heading, a blank one) has none. */
export interface ClaimLine {
  readonly text: string
  readonly sentences: readonly string[]
}

/**
 * The claims of an answer, line by line. A quotation belongs to one sentence whatever it holds, a wrapped line to the
 * one before it. Notes, the no answer and the word that a result is degraded are about the answer, not of it.
 */
export function claimLines(text: string): readonly ClaimLine[] {
  const unwrapped = text.replace(/(?<![.!?…:\]”"»\s])[ \t]*\n(?=[ \t]*[\p{Ll}\p{N}](?!\d{0,3}[.)]\s))/gu, ' ')
  return unwrapped.split('\n').map((line) => ({
    text: line,
    sentences: NO_CLAIM.test(line) ? [] : sentencesIn(masked(line)).map(unmasked),
  }))
}

/** How lines begin that are about the answer; noAnswer() and degradedResult() write the last ones. */
const NO_CLAIM = /^\s{0,20}(?:Note:|Degraded:|No answer\b|What was found:)/

const ENDS = '.!?…'
/** Characters of nobody's alphabet that stand for the ends of sentences inside quotations. */
const STAND_INS = '\uE000\uE001\uE002\uE003'

function masked(line: string): string {
  let from = 0
  const pieces: string[] = []
  for (const { at, end } of quotationsIn(line)) {
    const quoted = line.slice(at, end).replace(/[.!?…](?=\s)/g, (mark) => STAND_INS[ENDS.indexOf(mark)] ?? mark)
    pieces.push(line.slice(from, at), quoted)
    from = end
  }
  return [...pieces, line.slice(from)].join('')
}

function unmasked(sentence: string): string {
  return sentence.replace(/[\uE000-\uE003]/g, (mark) => ENDS[STAND_INS.indexOf(mark)] ?? mark)
}
