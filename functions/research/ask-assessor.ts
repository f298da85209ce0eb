import { ASSESS_SYSTEM, assessPrompt } from '../../shared/prompts/assess-prompt.ts'
import type { AssessmentOutput } from '../../shared/research/assessment-output.ts'
import { readAssessment } from '../../shared/research/read-answer.ts'
import { askEvidence } from './ask-evidence.ts'
import { type Asked, readingOf } from './ask-model.ts'
import { showEvidence } from './show-evidence.ts'
import type { StageCall } from './stage-call.ts'

/** Asks whether the evidence of the chain answers the question as it was asked. */
export async function askAssessor(call: StageCall): Promise<Asked<AssessmentOutput>> {
  const { evidence, intent } = call.state
  const shown = await showEvidence(call.world, call.run.tenant, evidence)
  return askEvidence(call, shown, {
    stage: 'assess_sufficiency',
    system: ASSESS_SYSTEM,
    output_schema: OUTPUT,
    prompt: assessPrompt,
    read: (text) => readingOf(readAssessment(text, intent.topic, evidence.length)),
  })
}

const OUTPUT = {
  sufficient: { type: 'boolean', required: true },
  refined_queries: { type: 'json', required: false },
  rationale: { type: 'string', required: false },
  confidence: { type: 'number', required: false },
} as const
