import { DRESS } from '../../text/prose.ts'
import type { Evidence } from '../payloads/candidate-and-evidence.ts'
import type { SaidSentence } from '../payloads/result.ts'
import {
  type CitedEvidence,
  checkSynthesis,
  isGrounded,
  isMarkedUnsupported,
  type SentenceFinding,
} from './check-synthesis.ts'
import {
  claimLines,
  doubtedSentencesNote,
  evidenceAsLines,
  isHonestNoAnswer,
  markedSentencesNote,
  NONE_QUOTED,
  noAnswerText,
  removedReferencesNote,
  removedSentencesNote,
  UNSUPPORTED_MARK,
} from './claim-lines.ts'
import { withoutReferencesTo } from './evidence-references.ts'

/** An answer as it may be published, and what had to be done for it. */
interface RepairedSynthesis {
  readonly synthesis: string
  /** How each of its sentences stands to what it cites. */
  readonly sentences: readonly SaidSentence[]
  /** Absent where the answer stands as it was written. */
  readonly degraded_reason?: string
}

interface RepairHow {
  /** Sentences that are unsupported stay, each behind a mark; else they are taken out. */
  readonly keep_unsupported?: boolean | undefined
  /** Why somebody doubts a sentence, by its text: it counts as unsupported. Nothing makes an unsupported one better. */
  readonly doubts?: ReadonlyMap<string, string>
}

/**
 * What becomes of an answer that is not all quoted or supported after it was asked for once more: unknown references are
 * taken out; a sentence that cites nothing, or that no passage it cites agrees with, is taken out or marked, each with a
 * note. Where no reference is left, the first items of evidence are shown. Without evidence it is no answer, whatever was
 * written; an honest no answer stands as it is.
 */
export function repairSynthesis(
  topic: string,
  synthesis: string,
  evidence: readonly (CitedEvidence & Evidence)[],
  how: RepairHow = {},
): RepairedSynthesis {
  if (evidence.length === 0)
    return { synthesis: noAnswerText(topic), sentences: [], degraded_reason: 'there is no evidence' }
  if (isHonestNoAnswer(synthesis, topic)) return { synthesis, sentences: [] }
  const unknown = new Set(checkSynthesis(topic, synthesis, evidence).flatMap(({ unknown_refs }) => unknown_refs))
  const known = unknown.size === 0 ? synthesis : withoutReferencesTo(synthesis, unknown)
  const { text, taken, findings } = mendSentences({ topic, evidence, how }, known)
  const doubted = how.doubts?.size ?? 0
  const cites = findings.some(({ places }) => places.length > 0)
  const notes = [
    ...(unknown.size === 0 ? [] : [removedReferencesNote(unknown.size)]),
    ...(taken === 0 ? [] : [how.keep_unsupported === true ? markedSentencesNote(taken) : removedSentencesNote(taken)]),
    ...(taken === 0 || doubted === 0 ? [] : [doubtedSentencesNote(doubted)]),
    ...(cites ? [] : [NONE_QUOTED, ...evidenceAsLines(evidence)]),
  ]
  const whole = [text.trim(), ...notes].filter((line) => line !== '').join('\n')
  const sentences = findings.map((finding) => saidSentence(finding, how))
  return notes.length === 0 ? { synthesis, sentences } : { synthesis: whole, sentences, degraded_reason: REASON }
}

const REASON = 'the synthesis did not hold against its evidence'

interface Repairing {
  readonly topic: string
  readonly evidence: readonly CitedEvidence[]
  readonly how: RepairHow
}

interface Repaired {
  readonly text: string
  /** Sentences that were taken out, or marked. */
  readonly taken: number
  readonly findings: readonly SentenceFinding[]
}

/**
 * Every sentence that is neither quoted nor supported is gone, or has its mark. What comes of that is looked at again:
 * without one, its neighbour may end elsewhere.
 */
function mendSentences(settling: Repairing, synthesis: string, before = 0): Repaired {
  const { topic, evidence, how } = settling
  const findings = checkSynthesis(topic, synthesis, evidence)
  const bad = new Set(findings.filter((finding) => isBad(finding, how)).map(({ sentence }) => sentence))
  if (bad.size === 0) return { text: synthesis, taken: countTaken(findings, before, how), findings }
  const isFenced = [...bad].some((sentence) => FENCE.test(sentence))
  const lines = claimLines(topic, synthesis).flatMap(({ text, sentences }) => {
    if (isFenced && FENCE.test(text) && sentences.length === 0) return []
    const kept = sentences.flatMap((sentence) => {
      if (!bad.has(sentence)) return [sentence]
      return how.keep_unsupported === true ? [`${UNSUPPORTED_MARK} ${sentence}`] : []
    })
    return lineOf(text, sentences, kept)
  })
  return mendSentences(settling, lines.join('\n'), before + bad.size)
}

/** Where what opens a fence is taken out, what closes it goes with it. */
const FENCE = /^\s{0,20}(?:```|~~~)/

function isBad(finding: SentenceFinding, { keep_unsupported, doubts }: RepairHow): boolean {
  if (keep_unsupported === true && isMarkedUnsupported(finding.sentence)) return false
  return !isGrounded(finding) || doubts?.has(finding.sentence) === true
}

/** A sentence that falls in two behind its mark has two marks: those that stand there are counted. */
function countTaken(findings: readonly SentenceFinding[], removed: number, { keep_unsupported }: RepairHow): number {
  return keep_unsupported === true ? findings.filter(({ sentence }) => isMarkedUnsupported(sentence)).length : removed
}

/** The line with what is left of its sentences; gone where nothing is. */
function lineOf(text: string, sentences: readonly string[], kept: readonly string[]): readonly string[] {
  if (kept.length === sentences.length && kept.every((sentence, at) => sentence === sentences[at])) return [text]
  const mark = DRESS.exec(text)?.[0] ?? ''
  return kept.length === 0 ? [] : [`${mark}${kept.join(' ')}`]
}

function saidSentence(finding: SentenceFinding, { doubts }: RepairHow): SaidSentence {
  const { sentence, status, places } = finding
  if (status !== 'unsupported') return { sentence, status, places: [...places] }
  const written = sentence.replace(`${UNSUPPORTED_MARK} `, '')
  const why = doubts?.get(written) ?? sentenceFaults({ ...finding, sentence: written }).join('; ')
  return { sentence, status, places: [...places], why }
}

/** What a synthesizer is told before it is asked once more: a line for each sentence that does not hold; empty = all do. */
export function synthesisErrors(findings: readonly SentenceFinding[]): readonly string[] {
  return findings
    .flatMap((finding, at) =>
      isGrounded(finding) ? [] : [`Sentence ${at + 1}: ${sentenceFaults(finding).join('; ')}.`],
    )
    .slice(0, MOST_ERRORS)
}

/** More would not help and cost tokens. */
const MOST_ERRORS = 10

/** What is wrong with a sentence that is unsupported, each in the middle of a sentence; never none. */
function sentenceFaults({
  sentence,
  places,
  unknown_refs,
  bad_quotes,
  bad_numbers,
}: SentenceFinding): readonly string[] {
  const isPlain = places.length > 0 && unknown_refs.length + bad_quotes.length + bad_numbers.length === 0
  return [
    ...(sentence.includes(UNSUPPORTED_MARK) ? [`it says ${UNSUPPORTED_MARK}`] : []),
    ...(isPlain
      ? ['no one passage of what it cites says it: use its words, in its order, with its negation and bounds']
      : []),
    ...unknown_refs.map((ref) => `[${ref.slice(0, 100)}] names no evidence`),
    ...(places.length > 0 || unknown_refs.length > 0 ? [] : ['it cites no evidence']),
    ...bad_quotes.map(({ quote, verdict }) => `"${quote.slice(0, 100)}" ${VERDICTS[verdict]}`),
    ...bad_numbers.map((number) => `${number} is not in the evidence it cites`),
  ]
}

const VERDICTS: Readonly<Record<SentenceFinding['bad_quotes'][number]['verdict'], string>> = {
  found: 'stands there',
  cut: 'stands there only right behind what denies it',
  misattributed: 'stands in other evidence',
  frankenquote: 'is put together from several places',
  not_found: 'stands nowhere in the evidence word for word',
}
