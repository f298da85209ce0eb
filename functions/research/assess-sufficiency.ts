import { ASSESS_SYSTEM, assessPrompt } from '../../shared/prompts/assess-prompt.ts'
import { assessByDefault } from '../../shared/research/assess-by-default.ts'
import type { AssessmentOutput } from '../../shared/research/assessment-output.ts'
import { afterAssessment } from '../../shared/research/next-stage.ts'
import { readAssessment } from '../../shared/research/read-answer.ts'
import { refinedQueries } from '../../shared/research/walk-queries.ts'
import { askEvidence } from './ask-evidence.ts'
import { readingOf } from './ask-model.ts'
import { stageHandler } from './run-stage.ts'
import { showEvidence } from './show-evidence.ts'
import type { StageCall } from './stage-call.ts'
import { type StageOutcome, toPlainAnswer } from './stage-outcome.ts'
import { NO_TIME, timeLeft } from './time-left.ts'

/** More rounds are not done, whatever an intent asks for: the steps of a chain are numbered to 999. */
const MOST_ROUNDS = 50

/** Whether the evidence answers the question. Only `sufficient` decides where the chain goes on. */
export const handler = stageHandler('assess_sufficiency', assess)

async function assess(call: StageCall): Promise<StageOutcome> {
  const { world, run, state } = call
  if (timeLeft(call) <= 0) return toPlainAnswer(NO_TIME)
  const { topic } = state.intent
  const count = state.evidence.length
  const shown = await showEvidence(world, run.tenant, state.evidence)
  const asked = await askEvidence(call, shown, {
    stage: 'assess_sufficiency',
    system: ASSESS_SYSTEM,
    output_schema: OUTPUT,
    prompt: assessPrompt,
    read: (text) => readingOf(readAssessment(text, topic, count)),
  })
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

const OUTPUT = {
  sufficient: { type: 'boolean', required: true },
  refined_queries: { type: 'json', required: false },
  rationale: { type: 'string', required: false },
  confidence: { type: 'number', required: false },
} as const
