import { CLASSIFY_SYSTEM, classifyPrompt } from '../../shared/prompts/classify-prompt.ts'
import type { TopicClassifier } from '../../shared/research/classify-topic.ts'
import { promptRoom } from '../../shared/research/prompt-room.ts'
import { readClassification } from '../../shared/research/read-classification.ts'
import { askModel, readingOf } from './ask-model.ts'
import { roomFor } from './room-for.ts'
import type { StageCall } from './stage-call.ts'

/** Tier 3 of the classifier: the place's model, asked where no keyword says what a question is after. */
export function modelClassifier(call: StageCall): TopicClassifier {
  return {
    tier: '3',
    async classify(topic) {
      const prompt = classifyPrompt(topic, call.meta.created_at)
      const { answer_tokens, keep } = promptRoom('route_search', 0, roomFor(call))
      const asked = await askModel(call, {
        system: CLASSIFY_SYSTEM,
        prompt,
        inputs: { topic },
        output_schema: OUTPUT,
        answer_tokens,
        keep,
        read: (text) => readingOf(readClassification(text)),
      })
      if (asked.kind === 'answered') return asked.value
      // The chain passes it over and says so.
      throw new Error(asked.why)
    },
  }
}

const OUTPUT = {
  intent: { type: 'string', required: true },
  confidence: { type: 'number', required: true },
  hints: { type: 'json', required: true },
} as const
