import { classifyForm } from '../../shared/research/classify-form.ts'
import type { TopicClassifier } from '../../shared/research/classify-topic.ts'
import { modelClassifier } from './model-classifier.ts'
import type { StageCall } from './stage-call.ts'

/** Who says what a question is after where no keyword does, in turn. */
export function furtherClassifiers(call: StageCall): readonly TopicClassifier[] {
  return [BY_FORM, ...(call.world.settings.research.classifier_tier_3 ? [modelClassifier(call)] : [])]
}

const BY_FORM: TopicClassifier = { tier: '1', classify: async (topic) => classifyForm(topic) }
