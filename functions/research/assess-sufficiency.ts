import { canonicalJson } from '../../shared/canonical.ts'
import { assessByDefault } from '../../shared/research/assess-by-default.ts'
import type { AssessmentOutput } from '../../shared/research/assessment-output.ts'
import type { ChainState } from '../../shared/research/chain-state.ts'
import { afterAssessment } from '../../shared/research/next-stage.ts'
import type { SubQuery } from '../../shared/research/sub-query.ts'
import { refinedQueries } from '../../shared/research/walk-queries.ts'
import { askAssessor } from './ask-assessor.ts'
import { stageHandler } from './run-stage.ts'
import type { StageCall } from './stage-call.ts'
import { type StageOutcome, toPlainAnswer } from './stage-outcome.ts'
import { NO_TIME, timeLeft } from './time-left.ts'

/** More rounds are not done, whatever an intent asks for: the steps of a chain are numbered to 999. */
const MOST_ROUNDS = 50

/** Whether the evidence answers the question. Only `sufficient` decides where the chain goes on. */
export const handler = stageHandler('assess_sufficiency', assess)

async function assess(call: StageCall): Promise<StageOutcome> {
  const { topic } = call.state.intent
  const count = call.state.evidence.length
  if (timeLeft(call) <= 0) return toPlainAnswer(NO_TIME)
  const asked = await askAssessor(call)
  if (asked.kind === 'failed') return toPlainAnswer(`assess_sufficiency failed: ${asked.why}`)
  if (asked.kind === 'skipped') {
    return { change: {}, next: 'synthesize_answer', degraded: [`the evidence was not assessed: ${asked.why}`] }
  }
  if (asked.kind === 'answered') return follow(call, asked.value, undefined)
  const why = `the assessor was not followed: ${asked.why}`
  return follow(call, assessByDefault(topic, count, why), why)
}

function follow({ state }: StageCall, assessment: AssessmentOutput, why: string | undefined): StageOutcome {
  const { sufficient, rationale, refined_queries = [] } = assessment
  const max_iterations = Math.min(state.intent.max_iterations, MOST_ROUNDS)
  const queries = newQueries(refinedQueries(refined_queries.length > 0 ? refined_queries : [state.topic]), state)
  const bounds = { max_iterations, repeats: queries.length === 0 }
  const { stage, counters, degraded_reason } = afterAssessment(sufficient, state.counters, bounds)
  return {
    change: { assessment, counters, queries: stage === 'execute_subqueries' ? [...queries] : [] },
    next: stage,
    degraded: [why, degraded_reason],
    said: { sufficient, ...(rationale === undefined ? {} : { rationale }), found: state.evidence.length },
  }
}

/** Those that did not run: the same again finds the same, and would count twice in the fusion. */
function newQueries(asked: readonly SubQuery[], { sub_queries }: ChainState): readonly SubQuery[] {
  const ran = new Set(sub_queries.map(contentOf))
  return asked.filter((query) => !ran.has(contentOf(query)))
}

/** Case and blanks change nothing of what a text finds, and a limit little. */
function contentOf(query: SubQuery): string {
  if (query.kind !== 'lexical') return canonicalJson(query)
  return query.text.toLowerCase().split(/\s+/).join(' ').trim()
}
