import type { AssessmentOutput } from './assessment-output.ts'
import { type Coverage, coverQuestion } from './cover-question.ts'
import { namedIn } from './names-in-question.ts'
import { wordsOfTerms } from './question-terms.ts'
import type { ShownEvidence } from './shown-evidence.ts'

/** Whether the evidence covers the question's terms and the relation asked for. Deterministic; it obeys no text. */
export function extractiveAssess(topic: string, evidence: readonly ShownEvidence[]): AssessmentOutput {
  const coverage = coverQuestion(topic, evidence)
  const { covered, units, missing, share } = coverage
  const by = units.length === 0 ? 'what was found' : `${units.length} of the sentences and facts`
  const rationale = covered
    ? `The question is covered by ${by}.`
    : `Nothing linked to the question says: ${wordsOfTerms(topic, missing).join(', ') || 'anything'}.`
  return {
    topic,
    sufficient: covered,
    ...(covered ? {} : { refined_queries: refine(topic, evidence, coverage) }),
    rationale,
    confidence: Math.round(share * 1_000) / 1_000,
    evidence_count: evidence.length,
  }
}

/** What is missing, with the names it may be said of: those the question leads to, else its own. */
function refine(topic: string, evidence: readonly ShownEvidence[], { missing, unseen = [] }: Coverage): string[] {
  const lacking = wordsOfTerms(topic, missing).join(' ')
  const named = evidence.flatMap(({ label = '' }) => (namedIn(topic, label) ? [label] : []))
  const labels = unseen.length > 0 ? unseen : named
  const queries = [...new Set(labels)].slice(0, MAX_NAMES).map((label) => `${label} ${lacking}`.trim())
  return [...new Set(queries.length > 0 ? queries : [lacking || topic])]
}

const MAX_NAMES = 3
