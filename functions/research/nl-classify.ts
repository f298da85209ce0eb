import { classifyTopic } from '../../shared/research/classify-topic.ts'
import { describeSearch } from '../../shared/research/describe-search.ts'
import { emitClassification } from '../../shared/research/emit-classification.ts'
import { mergeHints } from '../../shared/research/merge-hints.ts'
import { findCandidates } from './find-candidates.ts'
import { furtherClassifiers } from './further-classifiers.ts'
import { nearInMeaning } from './near-in-meaning.ts'
import { stageHandler } from './run-stage.ts'
import type { StageCall } from './stage-call.ts'
import { type StageOutcome, toPlainAnswer } from './stage-outcome.ts'
import { NO_TIME, timeLeft } from './time-left.ts'

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
  const found = await findCandidates(world, run.tenant, describeSearch(topic, hints), nearInMeaning(call))
  const degraded = [...(degraded_reason === undefined ? [] : [degraded_reason]), ...found.degraded]
  const classified = emitClassification({
    topic,
    classification,
    hints,
    candidates: found.candidates,
    degraded_reasons: degraded,
  })
  return { change: { classified }, next: 'route_search', degraded, said: { found: found.candidates.length } }
}
