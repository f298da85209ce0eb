import { type CitedEvidence, checkSynthesis, type SentenceFinding } from './check-synthesis.ts'
import { claimLines } from './claim-sentences.ts'
import { echoEvidence, noAnswer } from './degraded-result.ts'
import type { Evidence } from './evidence.ts'
import { withoutRefs } from './evidence-refs.ts'

/** An answer as it may be published, and what had to be done for it. */
export interface RepairedSynthesis {
  readonly synthesis: string
  /** Absent where the answer stands as it was written. */
  readonly degraded_reason?: string
}

/**
 * What becomes of an answer that still does not hold after it was asked for once more: unknown references are taken
 * out, and so are sentences whose quotations or numbers are not in what they cite, each with a note. Where no reference
 * is left, the first items of evidence are shown. Without evidence it is no answer, whatever was written.
 */
export function repairSynthesis(
  topic: string,
  synthesis: string,
  evidence: readonly (CitedEvidence & Evidence)[],
): RepairedSynthesis {
  if (evidence.length === 0) return { synthesis: noAnswer(topic), degraded_reason: 'there is no evidence' }
  const findings = checkSynthesis(synthesis, evidence)
  const unknown = new Set(findings.flatMap(({ unknown_refs }) => unknown_refs))
  const false_ones = new Set(findings.filter(isFalse).map(({ sentence }) => sentence))
  const kept = claimLines(synthesis).flatMap(({ text, sentences }) => keptLine(text, sentences, false_ones))
  const text = unknown.size === 0 ? kept.join('\n') : withoutRefs(kept.join('\n'), unknown)
  const cites = findings.some(({ sentence, places }) => places.length > 0 && !false_ones.has(sentence))
  const notes = [
    ...(unknown.size === 0 ? [] : [`Note: ${unknown.size} references were taken out: they name no evidence.`]),
    ...(false_ones.size === 0 ? [] : [`Note: ${false_ones.size} sentences were taken out: ${NOT_THERE}.`]),
    ...(cites ? [] : [NONE_QUOTED, ...echoEvidence(evidence)]),
  ]
  const whole = [text.trim(), ...notes].filter((line) => line !== '').join('\n')
  return notes.length === 0 ? { synthesis } : { synthesis: whole, degraded_reason: REASON }
}

const REASON = 'the synthesis did not hold against its evidence'
const NOT_THERE = 'their quotations or numbers are not in the evidence they cite'
const NONE_QUOTED = 'Note: the synthesizer quoted none of the evidence; these are its first items.'

function isFalse({ bad_quotes, bad_numbers }: SentenceFinding): boolean {
  return bad_quotes.length + bad_numbers.length > 0
}

/** The line without its false sentences; gone where nothing is left of it. */
function keptLine(text: string, sentences: readonly string[], false_ones: ReadonlySet<string>): readonly string[] {
  const kept = sentences.filter((sentence) => !false_ones.has(sentence))
  if (kept.length === sentences.length) return [text]
  const mark = /^\s{0,20}(?:[-*+•]|\d{1,4}[.)])\s/.exec(text)?.[0] ?? ''
  return kept.length === 0 ? [] : [`${mark}${kept.join(' ')}`]
}
