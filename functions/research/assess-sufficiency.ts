import { ASSESS_SYSTEM, assessPrompt } from '../../shared/prompts/research.ts'
import type { ChainState } from '../../shared/research/chain-state.ts'
import { stageAfterAssessment } from '../../shared/research/next-stage.ts'
import { type AssessmentOutput, assessByDefault } from '../../shared/research/payloads/stage-outputs.ts'
import { readAssessmentAnswer } from '../../shared/research/read-answers.ts'
import { refinedQueries, type SubQuery } from '../../shared/research/sub-queries.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { type Asked, askEvidence, toReading } from './ask-model.ts'
import { readAskedOfGraph, withNamedThings } from './read-things.ts'
import { showEvidence } from './show-evidence.ts'
import { NO_TIME, type StageCall, type StageOutcome, timeLeft, toPlainAnswer } from './stage-call.ts'
import { stageHandler } from './stage-handler.ts'

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
  if (asked.kind === 'answered') return followAssessment(call, asked.value, undefined)
  const why = `the assessor was not followed: ${asked.why}`
  return followAssessment(call, assessByDefault(topic, count, why), why)
}

function followAssessment({ state }: StageCall, assessment: AssessmentOutput, why: string | undefined): StageOutcome {
  const { sufficient, rationale, refined_queries = [] } = assessment
  const max_iterations = Math.min(state.intent.max_iterations, MOST_ROUNDS)
  const queries = newQueries(refinedQueries(refined_queries.length > 0 ? refined_queries : [state.topic]), state)
  const bounds = { max_iterations, repeats: queries.length === 0 }
  const { stage, counters, degraded_reason } = stageAfterAssessment(sufficient, state.counters, bounds)
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

/** Asks whether the evidence of the chain answers the question as it was asked. */
async function askAssessor(call: StageCall): Promise<Asked<AssessmentOutput>> {
  const { evidence, intent } = call.state
  const known = await readAskedOfGraph(call)
  const shown = await showEvidence(call.world, call.run.tenant, withNamedThings(intent.topic, evidence, known))
  return askEvidence(call, shown, {
    stage: 'assess_sufficiency',
    system: ASSESS_SYSTEM,
    output_schema: ASSESSMENT_OUTPUT,
    known,
    prompt: assessPrompt,
    read: (text) => toReading(readAssessmentAnswer(text, intent.topic, evidence.length)),
  })
}

const ASSESSMENT_OUTPUT = {
  sufficient: { type: 'boolean', required: true },
  refined_queries: { type: 'json', required: false },
  rationale: { type: 'string', required: false },
  confidence: { type: 'number', required: false },
} as const
