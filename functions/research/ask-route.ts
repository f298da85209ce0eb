import type { Json } from '../../shared/canonical.ts'
import { ROUTE_SYSTEM, routePrompt } from '../../shared/prompts/route-prompt.ts'
import type { ClassifierOutput } from '../../shared/research/classifier-output.ts'
import { candidatesForPrompt } from '../../shared/research/prompt-data.ts'
import { promptRoom } from '../../shared/research/prompt-room.ts'
import { readRoute } from '../../shared/research/read-answer.ts'
import type { RouteDecision } from '../../shared/research/route-decision.ts'
import { type Asked, askModel, readingOf } from './ask-model.ts'
import { roomFor } from './room-for.ts'
import type { StageCall } from './stage-call.ts'

/** Asks the router. It sees topic, hints and candidates; what retrieved text says, it is given as data between fences. */
export function askRoute(call: StageCall, classified: ClassifierOutput): Promise<Asked<RouteDecision>> {
  const { topic, hints = {}, candidates = [], degraded = false, degraded_reason } = classified
  const question = { topic, hints, ...(degraded_reason === undefined ? {} : { degraded_reason }) }
  const frame = routePrompt({ ...question, candidates: [] })
  const fixed = Math.ceil((ROUTE_SYSTEM.length + frame.length) / 4)
  const { answer_tokens, keep, data } = promptRoom('route_search', fixed, roomFor(call))
  const { retighten_rounds } = call.state.counters
  return askModel(call, {
    system: ROUTE_SYSTEM,
    prompt: routePrompt({ ...question, candidates: candidatesForPrompt(candidates, data) }),
    // Read from JSON, so it is JSON.
    inputs: { topic, hints, candidates, degraded, retighten_rounds } as Readonly<Record<string, Json>>,
    output_schema: OUTPUT,
    answer_tokens,
    keep,
    read: (text) => readingOf(readRoute(text, candidates.length)),
  })
}

const OUTPUT = {
  action: { type: 'string', required: true },
  args: { type: 'json', required: true },
  rationale: { type: 'string', required: false },
} as const
