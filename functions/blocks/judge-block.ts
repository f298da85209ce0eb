import type { GateUse } from '../../shared/dag/dag.ts'
import { type Composed, composeVerdicts } from '../../shared/gates/compose.ts'
import type { GateFacts, Verdict } from '../../shared/gates/gate.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { BlockCall } from './block-call.ts'
import { gatePorts } from './gate-ports.ts'
import { eventHead } from './own-lane.ts'

/** All verdicts of one side of a block, what they come to, and their events in gate order. */
export interface Judged {
  readonly verdicts: readonly Verdict[]
  readonly composed: Composed
  readonly events: readonly NewEvent[]
}

/** Judges every gate of one side (never only the first): pre-gates see inputs, post-gates inputs and outputs. */
export async function judgeBlock(
  call: BlockCall,
  phase: 'pre' | 'post',
  attempt: number,
  facts: Omit<GateFacts, 'at'>,
): Promise<Judged> {
  const { world, block } = call
  const uses: readonly GateUse[] = phase === 'pre' ? block.pre_gates : block.post_gates
  const at = new Date(world.clock.now()).toISOString()
  const verdicts: Verdict[] = []
  for (const use of uses) {
    verdicts.push(await judgeGate(use, { ...facts, at }, gatePorts(call), () => world.clock.now()))
  }
  const events = verdicts.map((verdict) => gateEvent(verdict, eventHead(call), attempt, phase))
  return { verdicts, composed: composeVerdicts(uses, verdicts, block.gate_composition[phase]), events }
}

/** A verdict as an event. */
export function gateEvent(
  verdict: Verdict,
  head: ReturnType<typeof eventHead>,
  attempt: number,
  phase: 'pre' | 'post',
): NewEvent {
  const { name, type, status, reason, facts, duration_ms, input_hash } = verdict
  const data = { gate: name, type, phase, status, reason, input_hash, facts, duration_ms }
  return { type: 'block:gate', ...head, attempt, data }
}
