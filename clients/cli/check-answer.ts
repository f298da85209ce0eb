import type { ResearchAnswer } from '../../shared/api/research-routes.ts'
import { checkSynthesis, isGrounded, type SentenceFinding } from '../../shared/research/check-synthesis.ts'
import type { Target } from './api.ts'
import { type StoredEvidence, storedEvidence } from './stored-evidence.ts'

/** An answer held against what the server has stored, sentence by sentence. */
export interface CheckedAnswer {
  readonly sentences: readonly (SentenceFinding & { readonly grounded: boolean })[]
  /** Items the answer cites, by their place from 1. */
  readonly cited: ReadonlyMap<number, StoredEvidence>
}

/** Reads what is cited, nothing else. */
export async function checkAnswer(target: Target, { intent, result }: ResearchAnswer): Promise<CheckedAnswer> {
  if (result === undefined) return { sentences: [], cited: new Map() }
  const { evidence = [], synthesis } = result
  // Which items a sentence cites does not depend on what they say.
  const places = new Set(checkSynthesis(intent.topic, synthesis, evidence).flatMap((finding) => finding.places))
  const stored = await Promise.all(
    evidence.map(async (item, at) => (places.has(at + 1) ? await storedEvidence(target, item) : item)),
  )
  const findings = checkSynthesis(intent.topic, synthesis, stored)
  const cited = [...places]
    .toSorted((a, b) => a - b)
    .flatMap((place): [number, StoredEvidence][] => {
      const item = stored[place - 1]
      return item === undefined ? [] : [[place, item]]
    })
  return {
    sentences: findings.map((finding) => ({ ...finding, grounded: isGrounded(finding) })),
    cited: new Map(cited),
  }
}
