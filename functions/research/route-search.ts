import type { ChainState } from '../../shared/research/chain-state.ts'
import type { ClassifierOutput } from '../../shared/research/classifier-output.ts'
import { candidatesAsEvidence } from '../../shared/research/emit-classification.ts'
import { retightenedHints } from '../../shared/research/merge-hints.ts'
import { afterRoute } from '../../shared/research/next-stage.ts'
import { parseRetightenArgs } from '../../shared/research/route-args.ts'
import type { RouteDecision } from '../../shared/research/route-decision.ts'
import { routeByDefault } from '../../shared/research/route-rules.ts'
import { trimEvidence } from '../../shared/research/trim-evidence.ts'
import { askRoute } from './ask-route.ts'
import { stageHandler } from './run-stage.ts'
import type { StageCall } from './stage-call.ts'
import { type StageOutcome, toPlainAnswer } from './stage-outcome.ts'
import { NO_TIME, timeLeft } from './time-left.ts'

/** Which of the four ways leads to an answer. Only `action` decides where the chain goes on. */
export const handler = stageHandler('route_search', route)

async function route(call: StageCall): Promise<StageOutcome> {
  const { state } = call
  const classified: ClassifierOutput = state.classified ?? { topic: state.topic }
  const evidence = asEvidence(state, classified)
  if (timeLeft(call) <= 0) return toPlainAnswer(NO_TIME, { evidence })
  const asked = await askRoute(call, classified)
  if (asked.kind === 'failed') return toPlainAnswer(`route_search failed: ${asked.why}`, { evidence })
  if (asked.kind === 'skipped') {
    return { change: { evidence }, next: 'synthesize_answer', degraded: [`the question was not routed: ${asked.why}`] }
  }
  const invalid = asked.kind === 'invalid' ? `the router was not followed: ${asked.why}` : undefined
  const decision = asked.kind === 'invalid' ? routeByDefault(state.topic) : asked.value
  return follow(state, decision, evidence, invalid)
}

/** What the question is answered from where no sub-query ran: the candidates themselves. */
function asEvidence({ intent }: ChainState, { candidates = [] }: ClassifierOutput): ChainState['evidence'] {
  return [...trimEvidence(candidatesAsEvidence(candidates), intent.budget_tokens).evidence]
}

function follow(
  state: ChainState,
  decision: RouteDecision,
  evidence: ChainState['evidence'],
  invalid: string | undefined,
): StageOutcome {
  const { action, rationale } = decision
  const { stage, counters, degraded_reason } = afterRoute(action, state.counters)
  const found = state.classified?.candidates?.length ?? 0
  const common = { decision, first_action: state.first_action ?? action, counters, queries: [] }
  return {
    change: {
      ...common,
      ...(stage === 'synthesize_answer' ? { evidence } : {}),
      ...(stage === 'nl_classify' ? retightened(state, decision) : {}),
    },
    next: stage,
    degraded: [invalid, degraded_reason],
    said: { action, ...(rationale === undefined ? {} : { rationale }), found },
  }
}

/** The refined topic is what is classified next; refined hints stand over the ones the question came with. */
function retightened({ intent }: ChainState, decision: RouteDecision): Partial<ChainState> {
  const args = parseRetightenArgs(decision)
  if (!args.ok) return {}
  return { topic: args.value.topic, hints: { ...retightenedHints(intent.hints, args.value.hints) } }
}
