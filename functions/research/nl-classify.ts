import { Fault } from '../../shared/errors.ts'
import { CLASSIFY_SYSTEM, classifyPrompt } from '../../shared/prompts/research.ts'
import { toClassifierOutput } from '../../shared/research/chain-state.ts'
import { promptTokenBudget } from '../../shared/research/prompt-budget.ts'
import {
  classifyByForm,
  classifyTopic,
  readClassification,
  type TopicClassifier,
} from '../../shared/research/question/classification.ts'
import { describeSearch, mergeHints } from '../../shared/research/question/search-hints.ts'
import { askModel, toReading } from './ask-model.ts'
import { findCandidates } from './candidates.ts'
import { createSemanticReranker } from './semantic-rerank.ts'
import { NO_TIME, promptRoomFor, type StageCall, type StageOutcome, timeLeft, toPlainAnswer } from './stage-call.ts'
import { stageHandler } from './stage-handler.ts'

/** What the question is about, and the first entities that may answer it. */
export const handler = stageHandler('nl_classify', classify)

async function classify(call: StageCall): Promise<StageOutcome> {
  const { world, run, meta, state } = call
  if (timeLeft(call) <= 0) return toPlainAnswer(NO_TIME)
  const { topic, hints: caller } = state
  // `today` is the day the question was asked, however often and late it is looked at.
  const now = new Date(meta.created_at)
  const { degraded_reason, ...classification } = await classifyTopic(topic, now, furtherClassifiers(call))
  const hints = mergeHints(caller, classification.hints, now)
  const found = await findCandidates(world, run.tenant, describeSearch(topic, hints), createSemanticReranker(call))
  const degraded = [...(degraded_reason === undefined ? [] : [degraded_reason]), ...found.degraded]
  const classified = toClassifierOutput({
    topic,
    classification,
    hints,
    candidates: found.candidates,
    degraded_reasons: degraded,
  })
  return { change: { classified }, next: 'route_search', degraded, said: { found: found.candidates.length } }
}

/** Who says what a question is after where no keyword does, in turn. */
function furtherClassifiers(call: StageCall): readonly TopicClassifier[] {
  return [BY_FORM, ...(call.world.settings.research.classifier_tier_3 ? [modelClassifier(call)] : [])]
}

const BY_FORM: TopicClassifier = { tier: '1', classify: async (topic) => classifyByForm(topic) }

/** Tier 3 of the classifier: the place's model, asked where no keyword says what a question is after. */
function modelClassifier(call: StageCall): TopicClassifier {
  return {
    tier: '3',
    async classify(topic) {
      const prompt = classifyPrompt(topic, call.meta.created_at)
      const { answer_tokens, keep } = promptTokenBudget('route_search', 0, promptRoomFor(call))
      const asked = await askModel(call, {
        system: CLASSIFY_SYSTEM,
        prompt,
        inputs: { topic },
        output_schema: CLASSIFICATION_OUTPUT,
        answer_tokens,
        keep,
        read: (text) => toReading(readClassification(text)),
      })
      if (asked.kind === 'answered') return asked.value
      // The chain passes it over and says so.
      throw new Fault('Unavailable', 'provider_unavailable', asked.why)
    },
  }
}

const CLASSIFICATION_OUTPUT = {
  intent: { type: 'string', required: true },
  confidence: { type: 'number', required: true },
  hints: { type: 'json', required: true },
} as const
