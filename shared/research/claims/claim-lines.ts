import { allSentencesIn, sentencesIn } from '../../text/prose.ts'
import { quotationsIn } from '../../text/quotations.ts'
import type { Evidence } from '../payloads/candidate-and-evidence.ts'
import type { DecompTrace, SearchResult } from '../payloads/result.ts'
import { plainWords } from '../question/terms.ts'

/** A line of an answer, in sentences; a line that claims nothing (a note of ours, a blank one) has none. */
interface ClaimLine {
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

/**
 * Whether a line is one of ours about the answer, word for word: it claims nothing, so it need not cite. A model that
 * writes `Note:` before a claim has claimed it.
 */
function isOwnLine(line: string, topic: string): boolean {
  if ([EXTRACTIVE_NOTE, MORE_MAY_FIT, NONE_QUOTED, NOT_JUDGED, noAnswerText(topic)].includes(line)) return true
  if (isCountNote(line)) return true
  const words = /^Note: no evidence linked to the question says: (.*)\.$/.exec(line)?.[1]
  const asked = new Set(plainWords(topic))
  return words?.split(', ').every((word) => asked.has(word)) === true
}

/** A no answer and notes on it, and nothing else: it claims nothing, so there is nothing it could cite. */
export function isHonestNoAnswer(synthesis: string, topic: string): boolean {
  const lines = synthesis.split('\n').filter((line) => line.trim() !== '')
  return lines[0] === noAnswerText(topic) && lines.every((line) => isOwnLine(line, topic))
}

/** What the extractive model says of itself below every answer. */
export const EXTRACTIVE_NOTE =
  'Note: put together from quotations and facts by the extractive model; no language model wrote it.'

/** Below an answer of several things that fit a description: only the evidence was looked at. */
export const MORE_MAY_FIT = 'Note: only the evidence found was looked at; more may fit.'

/** What stands above the first items of evidence where an answer cites none. */
export const NONE_QUOTED = 'Note: the synthesizer quoted none of the evidence; these are its first items.'

/** Stands before a sentence that stays although it is unsupported. No citation: those are in square brackets. */
export const UNSUPPORTED_MARK = '(unsupported)'

export function removedReferencesNote(count: number): string {
  return `Note: ${count} references were taken out: they name no evidence.`
}

export function removedSentencesNote(count: number): string {
  return `Note: ${count} sentences were taken out: the evidence they cite does not say them.`
}

export function markedSentencesNote(count: number): string {
  return `Note: ${count} sentences are marked ${UNSUPPORTED_MARK}: no evidence they cite says them.`
}

/** Below an answer that the judge of the settings could not look at: it stands as the rules let it stand. */
export const NOT_JUDGED = 'Note: the judge could not look at this answer; it stands as the rules let it stand.'

/** Below one of those two: sentences the rules let stand and the judge of the settings did not. */
export function doubtedSentencesNote(count: number): string {
  return `Note: ${count} of them were doubted by the judge alone.`
}

/** Whether a line is one of these four, or what earlier versions wrote for the second. */
function isCountNote(line: string): boolean {
  const [said, digits] = /^Note: (\d{1,6}) /.exec(line) ?? []
  if (said === undefined) return false
  const count = Number(digits)
  const earlier = `Note: ${count} sentences were taken out: their quotations or numbers are not in the evidence they cite.`
  return [
    removedReferencesNote(count),
    removedSentencesNote(count),
    markedSentencesNote(count),
    doubtedSentencesNote(count),
    earlier,
  ].includes(line)
}

interface Ending {
  readonly topic: string
  /** Why there is no better answer, as the middle of a sentence. */
  readonly reason: string
  readonly evidence: readonly Evidence[]
  readonly trace: DecompTrace
  readonly tokens_used: number
  readonly iterations: number
}

/** Items a degraded answer shows in words; all of them stay in `evidence`. */
const SHOWN = 8

/**
 * The terminal result where no synthesis was made: a cap, a failing stage, a spent budget, a timeout. It says what
 * happened and keeps the evidence. Without evidence it is an honest no answer, never a report.
 */
export function degradedResult({ topic, reason, evidence, trace, tokens_used, iterations }: Ending): SearchResult {
  const head = evidence.length === 0 ? noAnswerText(topic) : 'No answer was composed.'
  const lines = evidence.length === 0 ? [] : ['What was found:', ...evidenceAsLines(evidence)]
  return {
    evidence: [...evidence],
    synthesis: [head, `Degraded: ${reason}.`, ...lines].join('\n'),
    decomp_trace: trace,
    tokens_used,
    iterations,
  }
}

/** What is said where the graph has nothing. */
export function noAnswerText(topic: string): string {
  return `No answer found in the graph for: ${topic.replace(/\s+/g, ' ').trim()}`
}

/** The first items as lines with their citations. */
export function evidenceAsLines(evidence: readonly Pick<Evidence, 'entity_id' | 'snippet_text'>[]): readonly string[] {
  return evidence.slice(0, SHOWN).map(({ entity_id, snippet_text }, at) => {
    const text = (snippet_text ?? '').replace(/\s+/g, ' ').trim()
    return `- ${text === '' ? entity_id : text} [${at + 1}]`
  })
}
