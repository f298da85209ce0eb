import type { Candidate } from './candidate.ts'
import type { ClassifierOutput } from './classifier-output.ts'
import type { Classification } from './classify-keywords.ts'
import type { Evidence } from './evidence.ts'

interface Classified {
  readonly topic: string
  readonly classification: Classification
  /** Merged: the caller's and the topic's. */
  readonly hints: Readonly<Record<string, unknown>>
  readonly candidates: readonly Candidate[]
  /** Why the candidates are less than they could be; empty = they are not. */
  readonly degraded_reasons: readonly string[]
}

/** What nl_classify emits: always a tier, a confidence of 0 to 1, and a reason exactly where it is degraded. */
export function emitClassification(classified: Classified): ClassifierOutput {
  const { topic, classification, hints, candidates } = classified
  const reasons = classified.degraded_reasons.map((reason) => reason.trim()).filter((reason) => reason !== '')
  return {
    topic,
    tier: classification.tier,
    intent: classification.intent,
    confidence: Math.min(1, Math.max(0, classification.confidence)),
    hints: { ...hints },
    candidates: [...candidates],
    ...(reasons.length === 0 ? {} : { degraded: true, degraded_reason: reasons.join('; ') }),
  }
}

/** What synthesize_directly answers from: the candidates themselves, in their order. */
export function candidatesAsEvidence(candidates: readonly Candidate[]): readonly Evidence[] {
  return candidates.map(({ entity_id, tier, source, relevance, snippet_text }) => ({
    entity_id,
    tier,
    source,
    ...(relevance === undefined ? {} : { score: relevance }),
    ...(snippet_text === undefined ? {} : { snippet_text }),
  }))
}
