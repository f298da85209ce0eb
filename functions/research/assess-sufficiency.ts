import { assessByDefault } from '../../shared/research/assess-by-default.ts'
import type { AssessmentOutput } from '../../shared/research/assessment-output.ts'
import { afterAssessment } from '../../shared/research/next-stage.ts'
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
  const rounds = Math.min(state.intent.max_iterations, MOST_ROUNDS)
  const { stage, counters, degraded_reason } = afterAssessment(sufficient, state.counters, rounds)
  const refined = refined_queries.length > 0 ? refined_queries : [state.topic]
  return {
    change: { assessment, counters, queries: stage === 'execute_subqueries' ? [...refinedQueries(refined)] : [] },
    next: stage,
    degraded: [why, degraded_reason],
    said: { sufficient, ...(rationale === undefined ? {} : { rationale }), found: state.evidence.length },
  }
}
