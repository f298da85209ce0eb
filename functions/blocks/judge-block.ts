import type { GateUse } from '../../shared/dag/dag.ts'
import type { Fault } from '../../shared/errors.ts'
import { type Composed, composeVerdicts } from '../../shared/gates/compose.ts'
import { withFileTexts } from '../../shared/gates/file-texts.ts'
import type { GateFacts, Verdict } from '../../shared/gates/gate.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import type { KeptCall } from '../../shared/kept-call.ts'
import type { NewEvent, UsedByCalls } from '../../shared/runs/event.ts'
import { objectReader } from './agent-files.ts'
import type { BlockCall } from './block-call.ts'
import { gatePorts } from './gate-ports.ts'
import { keepAnswers } from './keep-answers.ts'
import { eventHead } from './own-lane.ts'
import { takeUntold } from './settle-meter.ts'
import { whileRunning } from './watch-attempt.ts'

/** All verdicts of one side of a block, what they come to, and their events in gate order. */
export interface Judged {
  readonly verdicts: readonly Verdict[]
  readonly composed: Composed
  readonly events: readonly NewEvent[]
  /** A judge may not be asked: the gates from there on were not judged. */
  readonly refusal?: Fault
}

/**
 * Judges every gate of one side (never only the first): pre-gates see inputs, post-gates inputs and outputs. Those
 * `known`, of an attempt that goes on after a question, are not judged again. A run that is stopped meanwhile ends what
 * they compute: Fault Rejected superseded, as of its dispatch.
 */
export function judgeBlock(
  call: BlockCall,
  phase: 'pre' | 'post',
  attempt: number,
  facts: Omit<GateFacts, 'at'>,
  known: readonly Verdict[] = [],
): Promise<Judged> {
  const uses = phase === 'pre' ? call.block.pre_gates : call.block.post_gates
  const judge = (signal: AbortSignal) => judgeUses(call, uses, { phase, attempt, facts, known, signal })
  return uses.length === 0 ? judge(NEVER) : whileRunning(call, judge)
}

const NEVER = new AbortController().signal

interface Side {
  readonly phase: 'pre' | 'post'
  readonly attempt: number
  readonly facts: Omit<GateFacts, 'at'>
  readonly known: readonly Verdict[]
  readonly signal: AbortSignal
}

async function judgeUses(
  call: BlockCall,
  uses: readonly GateUse[],
  { phase, attempt, facts, known, signal }: Side,
): Promise<Judged> {
  const { world, block } = call
  const at = new Date(world.clock.now()).toISOString()
  const verdicts: Verdict[] = [...known]
  const events: NewEvent[] = []
  const before = new Set(known.map(({ name }) => name))
  const seen = uses.length === 0 ? { ...facts, at } : await withFileTexts(block, { ...facts, at }, objectReader(call))
  const composed = () => composeVerdicts(uses, verdicts, block.gate_composition[phase])
  for (const use of uses) {
    if (before.has(use.name)) continue
    const calls: KeptCall[] = []
    const verdict = await judgeGate(use, seen, gatePorts(call, signal, calls), () => world.clock.now())
    // What an end cut short is no verdict.
    signal.throwIfAborted()
    // Whatever a gate makes of a judge it may not ask: a budget is no opinion about the block's work.
    if (call.meter.refusal !== undefined) {
      return { verdicts, composed: composed(), events, refusal: call.meter.refusal }
    }
    verdicts.push(verdict)
    const told = { spent: takeUntold(call.meter), ...(await keepAnswers(call, calls)) }
    events.push(gateEvent(verdict, eventHead(call), attempt, phase, told))
  }
  return { verdicts, composed: composed(), events }
}

/** A verdict as an event. */
export function gateEvent(
  verdict: Verdict,
  head: ReturnType<typeof eventHead>,
  attempt: number,
  phase: 'pre' | 'post',
  { spent, raw_ref }: { readonly spent?: UsedByCalls | undefined; readonly raw_ref?: string } = {},
): NewEvent {
  const { name, type, status, reason, facts, duration_ms, input_hash } = verdict
  const told = { gate: name, type, phase, status, reason, input_hash, facts, duration_ms }
  const asked = { ...(spent === undefined ? {} : { spent }), ...(raw_ref === undefined ? {} : { raw_ref }) }
  return { type: 'block:gate', ...head, attempt, data: { ...told, ...asked } }
}
