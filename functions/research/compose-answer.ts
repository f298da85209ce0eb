import { canonicalJson } from '../../shared/canonical.ts'
import { SYNTHESIS_SYSTEM, synthesisPrompt } from '../../shared/prompts/synthesis-prompt.ts'
import { NOT_JUDGED } from '../../shared/research/answer-notes.ts'
import { checkSynthesis } from '../../shared/research/check-synthesis.ts'
import type { Evidence } from '../../shared/research/evidence.ts'
import { readSynthesis } from '../../shared/research/read-answer.ts'
import { repairSynthesis } from '../../shared/research/repair-synthesis.ts'
import type { SaidSentence } from '../../shared/research/search-result.ts'
import { citableText } from '../../shared/research/shown-evidence.ts'
import { synthesisErrors } from '../../shared/research/synthesis-errors.ts'
import { askEvidence } from './ask-evidence.ts'
import { type Reading, readingOf } from './ask-model.ts'
import { type Judgement, judgeAnswer } from './judge-answer.ts'
import { type Shown, showEvidence } from './show-evidence.ts'
import type { StageCall } from './stage-call.ts'

/** An answer as it may be published, or why there is none. */
export interface ComposedAnswer {
  readonly synthesis?: string
  readonly sentences?: readonly SaidSentence[]
  readonly sources_ref?: string
  readonly skipped?: string
  /** What had to be taken out of it: the answer itself says so. */
  readonly repaired?: string
  readonly judged?: Judgement['judged']
  /** Why the judge of the settings did not look at it. */
  readonly unjudged?: string
}

/**
 * The model's answer, every sentence of it held against the stored bodies. What does not hold is asked for once more,
 * then taken out; what a judge doubts beside that, too.
 */
export async function composeAnswer(call: StageCall, evidence: readonly Evidence[]): Promise<ComposedAnswer> {
  const { topic, keep_unsupported } = call.state.intent
  const shown = await showEvidence(call.world, call.run.tenant, evidence)
  const asked = await askEvidence(call, shown, {
    stage: 'synthesize_answer',
    system: SYNTHESIS_SYSTEM,
    output_schema: OUTPUT,
    prompt: synthesisPrompt,
    read: (text) => checked(topic, text, shown),
  })
  const { ref: sources_ref } = await call.world.objects.put(call.run.tenant, Buffer.from(sourcesOf(shown)))
  if (asked.kind !== 'answered') return { sources_ref, skipped: `no answer was written: ${asked.why}` }
  const byRules = repairSynthesis(topic, asked.value, shown, { keep_unsupported })
  const judgement = await judgeAnswer(call, shown, byRules.sentences)
  const doubts = judgement?.doubts ?? new Map()
  const { synthesis, sentences, degraded_reason } =
    doubts.size === 0 ? byRules : repairSynthesis(topic, asked.value, shown, { keep_unsupported, doubts })
  const { judged, skipped } = judgement ?? {}
  return {
    synthesis: skipped === undefined ? synthesis : `${synthesis}\n${NOT_JUDGED}`,
    sentences,
    sources_ref,
    ...(degraded_reason === undefined ? {} : { repaired: degraded_reason }),
    ...(judged === undefined ? {} : { judged }),
    ...(skipped === undefined ? {} : { unjudged: skipped }),
  }
}

function sourcesOf(shown: readonly Shown[]): string {
  return canonicalJson(shown.map((item, place) => ({ id: `${place + 1}`, text: citableText(item) })))
}

function checked(topic: string, text: string, shown: readonly Shown[]): Reading<string> {
  const read = readingOf(readSynthesis(text))
  if (read.value === undefined) return read
  return { value: read.value, errors: synthesisErrors(checkSynthesis(topic, read.value, shown)) }
}

const OUTPUT = {
  // Of any type, so that it is asked for as a member of an object, not as a free text.
  synthesis: { type: 'json', required: true, description: 'the answer, a text' },
} as const
