import type { GateUse } from '../../shared/dag/dag.ts'
import { composeVerdicts } from '../../shared/gates/compose.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import type { BlockCall } from './block-call.ts'
import type { OpenAsk } from './open-ask.ts'
import { eventHead } from './own-lane.ts'
import type { Answer } from './read-answer.ts'
import { shortText } from './short-text.ts'
import { gatesSoFar, verdictsSoFar } from './verdicts-so-far.ts'

type Yes = Extract<Answer, { kind: 'yes' }>
type Phase = 'pre' | 'post'

/** Characters of the reason: it tells who waived and what had failed. */
const MOST = 400
const WORDS = 150

/** One verdict `waived` for each gate that was asked about and has none yet: a repeat adds what a crash left out. */
export function waiveGates(call: BlockCall, phase: Phase, ask: OpenAsk, yes: Yes): readonly NewEvent[] {
  const { block } = call
  const uses: readonly GateUse[] = phase === 'pre' ? block.pre_gates : block.post_gates
  const composition = block.gate_composition[phase]
  const failed = new Set(composeVerdicts(uses, verdictsSoFar(ask.events, phase), composition).failed)
  return gatesSoFar(ask.events, phase)
    .filter(({ gate }) => failed.has(gate))
    .map((verdict) => waivedEvent(call, ask.attempt, verdict, yes))
}

function waivedEvent(call: BlockCall, attempt: number, verdict: EventData<'block:gate'>, yes: Yes): NewEvent {
  const { approval_id, approval, words } = yes
  const { decided_by: by = '', via = '', feedback_ref: reason_ref } = approval
  const why = words === '' ? '' : ` ("${shortText(words, WORDS)}")`
  const facts = { by, via, approval_id, ...(reason_ref === undefined ? {} : { reason_ref }) }
  const reason = shortText(`waived by ${by}${why}; it had ${verdict.status}: ${verdict.reason}`, MOST)
  return { type: 'block:gate', ...eventHead(call), attempt, data: waivedVerdict(verdict, reason, facts) }
}

/** The verdict as a person let it pass: of the same values, at no cost. */
export function waivedVerdict(
  { gate, type, phase, input_hash }: EventData<'block:gate'>,
  reason: string,
  facts: unknown,
): EventData<'block:gate'> {
  return { gate, type, phase, status: 'waived', reason, input_hash, facts, duration_ms: 0 }
}
