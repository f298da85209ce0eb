import { ROUTE_SYSTEM, routePrompt } from '../../shared/prompts/research.ts'
import { type ChainState, candidatesAsEvidence } from '../../shared/research/chain-state.ts'
import { trimEvidence } from '../../shared/research/evidence-ranking.ts'
import { stageAfterRoute } from '../../shared/research/next-stage.ts'
import {
  parseRetightenArgs,
  type RouteDecision,
  routeByDefault,
} from '../../shared/research/payloads/route-decision.ts'
import type { ClassifierOutput } from '../../shared/research/payloads/stage-outputs.ts'
import { candidatesForPrompt, promptTokenBudget } from '../../shared/research/prompt-budget.ts'
import { retightenedHints } from '../../shared/research/question/search-hints.ts'
import { readRouteAnswer } from '../../shared/research/read-answers.ts'
import type { Json } from '../../shared/text/json.ts'
import { type Asked, askModel, toReading } from './ask-model.ts'
import { NO_TIME, promptRoomFor, type StageCall, type StageOutcome, timeLeft, toPlainAnswer } from './stage-call.ts'
import { stageHandler } from './stage-handler.ts'

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
  return followDecision(state, decision, evidence, invalid)
}

/** What the question is answered from where no sub-query ran: the candidates themselves. */
function asEvidence({ intent }: ChainState, { candidates = [] }: ClassifierOutput): ChainState['evidence'] {
  return [...trimEvidence(candidatesAsEvidence(candidates), intent.budget_tokens).evidence]
}

function followDecision(
  state: ChainState,
  decision: RouteDecision,
  evidence: ChainState['evidence'],
  invalid: string | undefined,
): StageOutcome {
  const { action, rationale } = decision
  const { stage, counters, degraded_reason } = stageAfterRoute(action, state.counters)
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

/** Asks the router. It sees topic, hints and candidates; what retrieved text says, it is given as data between fences. */
function askRoute(call: StageCall, classified: ClassifierOutput): Promise<Asked<RouteDecision>> {
  const { topic, hints = {}, candidates = [], degraded = false, degraded_reason } = classified
  const question = { topic, hints, ...(degraded_reason === undefined ? {} : { degraded_reason }) }
  const frame = routePrompt({ ...question, candidates: [] })
  const fixed = Math.ceil((ROUTE_SYSTEM.length + frame.length) / 4)
  const { answer_tokens, keep, data } = promptTokenBudget('route_search', fixed, promptRoomFor(call))
  const { retighten_rounds } = call.state.counters
  return askModel(call, {
    system: ROUTE_SYSTEM,
    prompt: routePrompt({ ...question, candidates: candidatesForPrompt(candidates, data) }),
    // Read from JSON, so it is JSON.
    inputs: { topic, hints, candidates, degraded, retighten_rounds } as Readonly<Record<string, Json>>,
    output_schema: ROUTE_OUTPUT,
    answer_tokens,
    keep,
    read: (text) => toReading(readRouteAnswer(text, candidates.length)),
  })
}

const ROUTE_OUTPUT = {
  action: { type: 'string', required: true },
  args: { type: 'json', required: true },
  rationale: { type: 'string', required: false },
} as const
