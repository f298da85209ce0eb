import { DRESS } from '../gates/sentences.ts'
import { doubtedNote, markedNote, NONE_QUOTED, referencesNote, takenNote, UNSUPPORTED_MARK } from './answer-notes.ts'
import { type CitedEvidence, checkSynthesis, isGrounded, isMarked, type SentenceFinding } from './check-synthesis.ts'
import { claimLines } from './claim-sentences.ts'
import { echoEvidence, noAnswer } from './degraded-result.ts'
import type { Evidence } from './evidence.ts'
import { withoutRefs } from './evidence-refs.ts'
import { isHonestNoAnswer } from './own-lines.ts'
import type { SaidSentence } from './search-result.ts'
import { faultsOf } from './synthesis-errors.ts'

/** An answer as it may be published, and what had to be done for it. */
export interface RepairedSynthesis {
  readonly synthesis: string
  /** How each of its sentences stands to what it cites. */
  readonly sentences: readonly SaidSentence[]
  /** Absent where the answer stands as it was written. */
  readonly degraded_reason?: string
}

export interface RepairHow {
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
    return { synthesis: noAnswer(topic), sentences: [], degraded_reason: 'there is no evidence' }
  if (isHonestNoAnswer(synthesis, topic)) return { synthesis, sentences: [] }
  const unknown = new Set(checkSynthesis(topic, synthesis, evidence).flatMap(({ unknown_refs }) => unknown_refs))
  const known = unknown.size === 0 ? synthesis : withoutRefs(synthesis, unknown)
  const { text, taken, findings } = settled({ topic, evidence, how }, known)
  const doubted = how.doubts?.size ?? 0
  const cites = findings.some(({ places }) => places.length > 0)
  const notes = [
    ...(unknown.size === 0 ? [] : [referencesNote(unknown.size)]),
    ...(taken === 0 ? [] : [how.keep_unsupported === true ? markedNote(taken) : takenNote(taken)]),
    ...(taken === 0 || doubted === 0 ? [] : [doubtedNote(doubted)]),
    ...(cites ? [] : [NONE_QUOTED, ...echoEvidence(evidence)]),
  ]
  const whole = [text.trim(), ...notes].filter((line) => line !== '').join('\n')
  const sentences = findings.map((finding) => told(finding, how))
  return notes.length === 0 ? { synthesis, sentences } : { synthesis: whole, sentences, degraded_reason: REASON }
}

const REASON = 'the synthesis did not hold against its evidence'

interface Settling {
  readonly topic: string
  readonly evidence: readonly CitedEvidence[]
  readonly how: RepairHow
}

interface Settled {
  readonly text: string
  /** Sentences that were taken out, or marked. */
  readonly taken: number
  readonly findings: readonly SentenceFinding[]
}

/**
 * Every sentence that is neither quoted nor supported is gone, or has its mark. What comes of that is looked at again:
 * without one, its neighbour may end elsewhere.
 */
function settled(settling: Settling, synthesis: string, before = 0): Settled {
  const { topic, evidence, how } = settling
  const findings = checkSynthesis(topic, synthesis, evidence)
  const bad = new Set(findings.filter((finding) => isBad(finding, how)).map(({ sentence }) => sentence))
  if (bad.size === 0) return { text: synthesis, taken: taken(findings, before, how), findings }
  const isFenced = [...bad].some((sentence) => FENCE.test(sentence))
  const lines = claimLines(topic, synthesis).flatMap(({ text, sentences }) => {
    if (isFenced && FENCE.test(text) && sentences.length === 0) return []
    const kept = sentences.flatMap((sentence) => {
      if (!bad.has(sentence)) return [sentence]
      return how.keep_unsupported === true ? [`${UNSUPPORTED_MARK} ${sentence}`] : []
    })
    return lineOf(text, sentences, kept)
  })
  return settled(settling, lines.join('\n'), before + bad.size)
}

/** Where what opens a fence is taken out, what closes it goes with it. */
const FENCE = /^\s{0,20}(?:```|~~~)/

function isBad(finding: SentenceFinding, { keep_unsupported, doubts }: RepairHow): boolean {
  if (keep_unsupported === true && isMarked(finding.sentence)) return false
  return !isGrounded(finding) || doubts?.has(finding.sentence) === true
}

/** A sentence that falls in two behind its mark has two marks: those that stand there are counted. */
function taken(findings: readonly SentenceFinding[], removed: number, { keep_unsupported }: RepairHow): number {
  return keep_unsupported === true ? findings.filter(({ sentence }) => isMarked(sentence)).length : removed
}

/** The line with what is left of its sentences; gone where nothing is. */
function lineOf(text: string, sentences: readonly string[], kept: readonly string[]): readonly string[] {
  if (kept.length === sentences.length && kept.every((sentence, at) => sentence === sentences[at])) return [text]
  const mark = DRESS.exec(text)?.[0] ?? ''
  return kept.length === 0 ? [] : [`${mark}${kept.join(' ')}`]
}

function told(finding: SentenceFinding, { doubts }: RepairHow): SaidSentence {
  const { sentence, status, places } = finding
  if (status !== 'unsupported') return { sentence, status, places: [...places] }
  const written = sentence.replace(`${UNSUPPORTED_MARK} `, '')
  const why = doubts?.get(written) ?? faultsOf({ ...finding, sentence: written }).join('; ')
  return { sentence, status, places: [...places], why }
}
