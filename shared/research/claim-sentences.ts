import { allSentencesIn, sentencesIn } from '../gates/sentences.ts'
import { isOwnLine } from './own-lines.ts'
import { quotationsIn } from './quotations.ts'

/** A line of an answer, in sentences; a line that claims nothing (a note of ours, a blank one) has none. */
export interface ClaimLine {
  readonly text: string
  readonly sentences: readonly string[]
}

/**
 * The claims of an answer, line by line: headings, footnotes and fences too, since a reader reads them. A quotation belongs
 * to one sentence whatever it holds, a wrapped line to the one before it. Our own notes and the no answer are about the
 * answer, not of it.
 */
export function claimLines(topic: string, text: string): readonly ClaimLine[] {
  const unwrapped = text
    .replace(/^(>[^\n]*[^.!?…:\]”"»\s])[ \t]*\n>[ \t]?(?=\p{Ll})/gmu, '$1 ')
    .replace(/(?<![.!?…:\]”"»\s])[ \t]*\n(?=[ \t]*[\p{Ll}\p{N}](?!\d{0,3}[.)]\s))/gu, ' ')
  return unwrapped.split('\n').map((line) => ({
    text: line,
    sentences: isOwnLine(line, topic) ? [] : allSentencesIn(masked(line)).map(unmasked),
  }))
}

/** Sentences of a text as gates count them, a quotation in one of them whatever it holds. */
export function claimSentences(text: string): readonly string[] {
  return sentencesIn(masked(text)).map(unmasked)
}

const ENDS = '.!?…。！？'
/**
 * Characters of nobody's alphabet that stand for the ends of sentences inside quotations; a full stop right before the
 * mark ends the sentence around it.
 */
const STAND_INS = '\uE000\uE001\uE002\uE003\uE004\uE005\uE006'

function masked(line: string): string {
  let from = 0
  const pieces: string[] = []
  for (const { at, end } of quotationsIn(line)) {
    const quoted = line
      .slice(at, end)
      .replace(/[.!?…](?!.?$)|[。！？]/g, (mark) => STAND_INS[ENDS.indexOf(mark)] ?? mark)
    pieces.push(line.slice(from, at), quoted)
    from = end
  }
  return [...pieces, line.slice(from)].join('')
}

function unmasked(sentence: string): string {
  return sentence.replace(/[\uE000-\uE006]/g, (mark) => ENDS[STAND_INS.indexOf(mark)] ?? mark)
}
