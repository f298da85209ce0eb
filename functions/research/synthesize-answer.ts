import type { ChainState } from '../../shared/research/chain-state.ts'
import { degradedResult, noAnswer } from '../../shared/research/degraded-result.ts'
import { candidatesAsEvidence } from '../../shared/research/emit-classification.ts'
import type { SearchResult } from '../../shared/research/search-result.ts'
import { traceSteps } from '../../shared/research/trace-steps.ts'
import { trimEvidence } from '../../shared/research/trim-evidence.ts'
import { type ComposedAnswer, composeAnswer } from './compose-answer.ts'
import { stageHandler } from './run-stage.ts'
import type { StageCall } from './stage-call.ts'
import type { StageOutcome } from './stage-outcome.ts'
import { tellLoop } from './tell-loop.ts'
import { NO_TIME, timeLeft } from './time-left.ts'
import { tokensUsed } from './tokens-left.ts'

/** The terminal result, whatever came before: an answer that cites its evidence, or one that says why there is none. */
export const handler = stageHandler('synthesize_answer', synthesize, tellLoop)

async function synthesize(call: StageCall): Promise<StageOutcome> {
  const { state, failed, plain } = call
  const failure = failed == null ? undefined : `${failed.stage} failed: ${failed.error}`
  const why = failure ?? (timeLeft(call) <= 0 ? NO_TIME : undefined)
  const evidence = evidenceOf(state)
  const isPlain = plain || why !== undefined || state.plain === true
  const composed: ComposedAnswer = isPlain || evidence.length === 0 ? {} : await composeAnswer(call, evidence)
  const degraded = [...state.degraded, why, composed.skipped].filter((reason) => reason !== undefined)
  const result = resultOf(call, { evidence, degraded: [...new Set(degraded)], composed })
  return {
    change: { evidence, result, ...(composed.sources_ref === undefined ? {} : { sources_ref: composed.sources_ref }) },
    next: 'settle',
    degraded: [why, composed.skipped, composed.repaired, composed.unjudged],
    said: { found: evidence.length, ...(composed.judged === undefined ? {} : { judged: composed.judged }) },
  }
}

/** Where no sub-query ran, the candidates are what there is. */
function evidenceOf({ evidence, classified, sub_queries, intent }: ChainState): ChainState['evidence'] {
  if (evidence.length > 0 || sub_queries.length > 0) return evidence
  return [...trimEvidence(candidatesAsEvidence(classified?.candidates ?? []), intent.budget_tokens).evidence]
}

interface Ending {
  readonly evidence: ChainState['evidence']
  readonly degraded: readonly string[]
  readonly composed: ComposedAnswer
}

function resultOf(call: StageCall, { evidence, degraded, composed }: Ending): SearchResult {
  const { state } = call
  const { synthesis, sentences = [] } = composed
  const { first_action, sub_queries, seed_entities, counters, intent } = state
  const { retighten_rounds, iterations } = counters
  const trace = traceSteps({ ...(first_action && { first_action }), sub_queries, seed_entities, retighten_rounds })
  const counted = { tokens_used: tokensUsed(call), iterations }
  const reason = degraded.join('; ')
  if (synthesis === undefined && (evidence.length > 0 || reason !== '')) {
    return degradedResult({ topic: intent.topic, reason, evidence, trace: trace ?? {}, ...counted })
  }
  const answer = synthesis ?? noAnswer(intent.topic)
  return {
    evidence,
    synthesis: reason === '' ? answer : `${answer}\nDegraded: ${reason}.`,
    ...(sentences.length === 0 ? {} : { sentences: [...sentences] }),
    ...(trace === undefined ? {} : { decomp_trace: trace }),
    ...counted,
  }
}
