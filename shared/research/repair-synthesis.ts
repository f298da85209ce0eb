import { NONE_QUOTED } from './answer-notes.ts'
import { type CitedEvidence, checkSynthesis, isGrounded } from './check-synthesis.ts'
import { claimLines } from './claim-sentences.ts'
import { echoEvidence, noAnswer } from './degraded-result.ts'
import type { Evidence } from './evidence.ts'
import { withoutRefs } from './evidence-refs.ts'
import { isHonestNoAnswer } from './own-lines.ts'

/** An answer as it may be published, and what had to be done for it. */
export interface RepairedSynthesis {
  readonly synthesis: string
  /** Absent where the answer stands as it was written. */
  readonly degraded_reason?: string
}

/**
 * What becomes of an answer that is not all quoted or supported after it was asked for once more: unknown references are
 * taken out, and so is every sentence that cites nothing, or that no passage it cites agrees with, each with a note. Where no reference
 * is left, the first items of evidence are shown. Without evidence it is no answer, whatever was written; an honest no
 * answer stands as it is.
 */
export function repairSynthesis(
  topic: string,
  synthesis: string,
  evidence: readonly (CitedEvidence & Evidence)[],
): RepairedSynthesis {
  if (evidence.length === 0) return { synthesis: noAnswer(topic), degraded_reason: 'there is no evidence' }
  if (isHonestNoAnswer(synthesis, topic)) return { synthesis }
  const unknown = new Set(checkSynthesis(topic, synthesis, evidence).flatMap(({ unknown_refs }) => unknown_refs))
  const known = unknown.size === 0 ? synthesis : withoutRefs(synthesis, unknown)
  const { text, taken, cites } = withoutFalse(topic, known, evidence)
  const notes = [
    ...(unknown.size === 0 ? [] : [`Note: ${unknown.size} references were taken out: they name no evidence.`]),
    ...(taken === 0 ? [] : [`Note: ${taken} sentences were taken out: ${NOT_THERE}.`]),
    ...(cites ? [] : [NONE_QUOTED, ...echoEvidence(evidence)]),
  ]
  const whole = [text.trim(), ...notes].filter((line) => line !== '').join('\n')
  return notes.length === 0 ? { synthesis } : { synthesis: whole, degraded_reason: REASON }
}

const REASON = 'the synthesis did not hold against its evidence'
const NOT_THERE = 'the evidence they cite does not say them'

/** Without the sentences that are neither quoted nor supported. What is left is looked at again: without one, its neighbour may end elsewhere. */
function withoutFalse(topic: string, synthesis: string, evidence: readonly CitedEvidence[], before = 0): Kept {
  const findings = checkSynthesis(topic, synthesis, evidence)
  const false_ones = new Set(findings.filter((finding) => !isGrounded(finding)).map(({ sentence }) => sentence))
  const taken = before + false_ones.size
  const cites = findings.some(({ places }) => places.length > 0)
  if (false_ones.size === 0) return { text: synthesis, taken, cites }
  const lines = claimLines(topic, synthesis).flatMap(({ text, sentences }) => keptLine(text, sentences, false_ones))
  return withoutFalse(topic, lines.join('\n'), evidence, taken)
}

interface Kept {
  readonly text: string
  readonly taken: number
  /** It still cites some evidence. */
  readonly cites: boolean
}

/** The line without its false sentences; gone where nothing is left of it. */
function keptLine(text: string, sentences: readonly string[], false_ones: ReadonlySet<string>): readonly string[] {
  const kept = sentences.filter((sentence) => !false_ones.has(sentence))
  if (kept.length === sentences.length) return [text]
  const mark = /^\s{0,20}(?:[-*+•]|\d{1,4}[.)])\s/.exec(text)?.[0] ?? ''
  return kept.length === 0 ? [] : [`${mark}${kept.join(' ')}`]
}
