import { describeSearch } from '../../shared/research/describe-search.ts'
import { fuseEvidence } from '../../shared/research/fuse-evidence.ts'
import { trimEvidence } from '../../shared/research/trim-evidence.ts'
import { nearInMeaning } from './near-in-meaning.ts'
import { planQueries } from './plan-queries.ts'
import { stageHandler } from './run-stage.ts'
import { runSubQueries } from './run-sub-queries.ts'
import type { StageCall } from './stage-call.ts'
import { type StageOutcome, toPlainAnswer } from './stage-outcome.ts'
import { NO_TIME, timeLeft } from './time-left.ts'

/** Runs the sub-queries of this round and fuses what they found with what earlier rounds found. No language model is asked. */
export const handler = stageHandler('execute_subqueries', execute)

async function execute(call: StageCall): Promise<StageOutcome> {
  const { world, run, state } = call
  if (timeLeft(call) <= 0) return toPlainAnswer(NO_TIME)
  const plan = await planQueries(call)
  const filter = describeSearch(state.topic, state.classified?.hints ?? {})
  const from = state.sub_queries.length
  const ran = await runSubQueries(world, run.tenant, plan.queries, { from, filter, near: nearInMeaning(call) })
  const hits = [...state.hits, ...ran.hits]
  const { evidence, tokens } = trimEvidence(fuseEvidence(hits), state.intent.budget_tokens)
  const action = state.decision?.action
  const degraded = [...plan.degraded, ...ran.degraded]
  const execution = {
    topic: state.topic,
    ...(action === undefined ? {} : { action }),
    subquery_count: plan.queries.length,
    budget_tokens_used: tokens,
    // Without a decision there is no action to name: then it is a degraded output.
    ...(degraded.length === 0 && action !== undefined ? {} : { degraded: true, degraded_reason: degraded.join('; ') }),
  }
  return {
    change: {
      hits,
      evidence: [...evidence],
      execution,
      queries: [],
      sub_queries: [...state.sub_queries, ...plan.queries],
      seed_entities: [...new Set([...state.seed_entities, ...plan.seeds])],
    },
    next: 'assess_sufficiency',
    degraded,
    said: { ...(action === undefined ? {} : { action }), found: evidence.length },
  }
}
