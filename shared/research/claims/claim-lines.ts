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
  if (
    [EXTRACTIVE_NOTE, MORE_MAY_FIT, NOT_AMONG, MAY_ANSWER, NONE_QUOTED, NOT_JUDGED, noAnswerText(topic)].includes(line)
  )
    return true
  if (isCountNote(line) || SET_NOTE.test(line) || REFUSALS.includes(line)) return true
  const words = /^Note: no evidence linked to the question says: (.*)\.$/.exec(line)?.[1]
  const asked = plainWords(topic)
  const part = PART_NOTE.exec(line)?.[1]
  if (part !== undefined) return ` ${asked.join(' ')} `.includes(` ${plainWords(part).join(' ')} `)
  return words?.split(', ').every((word) => asked.includes(word)) === true
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

/** Below what a thing does state, where it was asked whether it states something else. */
export const NOT_AMONG = 'Note: what was asked about is not among what is stated there.'

/** Of a question that asks several things the one that is not answered, in its own words. */
export function partNote(written: string): string {
  return `Note: no answer found to this part: ${written}`
}

const PART_NOTE = /^Note: no answer found to this part: (.{1,500})$/u

/** Why such an answer is less than it could be. */
export const ONLY_IN_PART = 'a part of the question is not answered'

/** Below what was found in a whole set: how much was looked at (extractive/set-answer.ts). */
const SET_NOTE =
  /^Note: \d{1,5} of type [\p{L}\p{N} _-]{1,100} were looked at(?:\.|; \d{1,5} of them do not say it, and more may fit\.)$/u

/** Why the extractive model does not answer a question it could only guess at. */
const WHY_REFUSED = {
  not_closed: 'there are more things of that type than are read at once, so none of them can be counted or compared',
  nothing_fits: 'nothing in the graph is stated to fit',
  negation: 'the question has a negation, and no closed set of the graph says what is not',
  denied: 'what was found denies something, and the question does not',
  other_time: 'what was found says it of another time',
  other_doer: 'what was found says that somebody else did it',
  not_said: 'what was found has the words in its title and does not say it',
  reserved: 'what was found says it only as planned, possible, conditional, denied or told by somebody',
  unclear_order: 'two of the dates are not given as exactly as it takes to order them',
  other_kind: 'what was found is not of the kind the question asks for',
  other_way: 'what was found says the relation the other way round',
  computed: 'it asks for something computed, and this model counts and compares only',
  whole_set: 'it asks about a whole set, in words that name no set or number of the graph',
} as const

export type WhyRefused = keyof typeof WHY_REFUSED

export function refusalNote(why: WhyRefused): string {
  return `Note: not answered: ${WHY_REFUSED[why]}.`
}

const REFUSALS: readonly string[] = Object.values(WHY_REFUSED).map((words) => `Note: not answered: ${words}.`)

/** What stands above passages that have words of the question, where none of them is known to answer it. */
export const MAY_ANSWER = 'Note: passages that may answer it:'

/** Why an answer that shows such passages is less than it could be. */
export const ONLY_MAY_ANSWER = 'nothing found is known to answer the question; passages that may answer it are shown'

/** What is left of an answer, as what may answer the question. */
export function asMayAnswer(topic: string, synthesis: string): string {
  if (synthesis.startsWith(noAnswerText(topic))) return synthesis
  return [noAnswerText(topic), MAY_ANSWER, synthesis].join('\n')
}

/** A language model's answer without what only who read a whole set can say: how many there are beside those it names. */
export function withoutWordsOfSets(text: string): string {
  return text
    .replace(/; the first \d{1,3} are(?=:)/g, '')
    .replace(/Note: \d{1,5} of type [^.\\\n]{1,300} were looked at[^.\\\n]{0,100}\./g, '')
}

/** Whether a synthesis answers the question or a part of it, says that it does not, or shows what may answer it. */
export function howItAnswers(topic: string, synthesis: string): 'yes' | 'part' | 'maybe' | 'no' {
  const [first, ...lines] = synthesis.split('\n')
  if (first === noAnswerText(topic)) return lines.includes(MAY_ANSWER) ? 'maybe' : 'no'
  if (lines.includes(NONE_QUOTED) || first === NONE_QUOTED) return 'no'
  return synthesis.split('\n').some((line) => PART_NOTE.test(line) && isOwnLine(line, topic)) ? 'part' : 'yes'
}

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
  const head = evidence.length === 0 ? noAnswerText(topic) : NONE_COMPOSED
  const lines = evidence.length === 0 ? [] : ['What was found:', ...evidenceAsLines(evidence)]
  return {
    evidence: [...evidence],
    answers: 'no',
    synthesis: [head, `Degraded: ${reason}.`, ...lines].join('\n'),
    decomp_trace: trace,
    tokens_used,
    iterations,
  }
}

const NO_ANSWER = 'No answer found in the graph for: '
const NONE_COMPOSED = 'No answer was composed.'

/** What is said where the graph has nothing. */
export function noAnswerText(topic: string): string {
  return `${NO_ANSWER}${topic.replace(/\s+/g, ' ').trim()}`
}

/** Whether a text says itself that it answers nothing: what it cites below is shown to read, and claimed by nobody. */
export function saysNoAnswer(text: string): boolean {
  return text.startsWith(NO_ANSWER) || text.startsWith(NONE_COMPOSED)
}

/** The first items as lines with their citations. */
export function evidenceAsLines(evidence: readonly Pick<Evidence, 'entity_id' | 'snippet_text'>[]): readonly string[] {
  return evidence.slice(0, SHOWN).map(({ entity_id, snippet_text }, at) => {
    const text = (snippet_text ?? '').replace(/\s+/g, ' ').trim()
    return `- ${text === '' ? entity_id : text} [${at + 1}]`
  })
}
