import type { Block, GateUse } from '../../shared/dag/dag.ts'
import { composeVerdicts } from '../../shared/gates/compose-verdicts.ts'
import type { Verdict } from '../../shared/gates/gate.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { type BlockCall, eventBase, type OpenQuestion, type PersonAnswer } from './block-call.ts'

type Yes = Extract<PersonAnswer, { kind: 'yes' }>

type Phase = 'pre' | 'post'

/** Characters of the reason: it tells who waived and what had failed. */
const MOST = 400

const WORDS = 150

/** One verdict `waived` for each gate that was asked about and has none yet: a repeat adds what a crash left out. */
export function waiveGates(call: BlockCall, phase: Phase, ask: OpenQuestion, yes: Yes): readonly NewEvent[] {
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
  const why = words === '' ? '' : ` ("${shortRedacted(words, WORDS)}")`
  const facts = { by, via, approval_id, ...(reason_ref === undefined ? {} : { reason_ref }) }
  const reason = shortRedacted(`waived by ${by}${why}; it had ${verdict.status}: ${verdict.reason}`, MOST)
  return { type: 'block:gate', ...eventBase(call), attempt, data: waivedVerdict(verdict, reason, facts) }
}

/** The verdict as a person let it pass: of the same values, at no cost. */
export function waivedVerdict(
  { gate, type, phase, input_hash, version }: EventData<'block:gate'>,
  reason: string,
  facts: unknown,
): EventData<'block:gate'> {
  const by = version === undefined ? {} : { version }
  return { gate, type, phase, status: 'waived', reason, input_hash, ...by, facts, duration_ms: 0 }
}

/** The gates a person was asked about, with why they do not hold; of a question about the budget or a lost step none. */
export function gatesAskedAbout(
  { pre_gates, post_gates }: Pick<Block, 'pre_gates' | 'post_gates'>,
  { about, events }: Pick<OpenQuestion, 'about' | 'events'>,
): readonly { readonly name: string; readonly reason: string }[] {
  if (about === 'budget' || about === 'lost_step') return []
  const [phase, uses] =
    about === 'pre_gates' || about === 'call' ? (['pre', pre_gates] as const) : (['post', post_gates] as const)
  const counted = new Set(uses.flatMap(({ name, on_fail }) => (on_fail === 'warn' ? [] : [name])))
  return gatesSoFar(events, phase).flatMap(({ gate: name, status, reason }) => {
    return (status === 'failed' || status === 'error') && counted.has(name) ? [{ name, reason }] : []
  })
}

type GatePhase = 'pre' | 'post'

/** The verdicts an attempt has of one phase: of each gate the last one, in the order they were first given. */
export function verdictsSoFar(events: readonly NewEvent[], phase: GatePhase): readonly Verdict[] {
  return gatesSoFar(events, phase).map(asVerdict)
}

/** The same as the events tell them. */
function gatesSoFar(events: readonly NewEvent[], phase: GatePhase): readonly EventData<'block:gate'>[] {
  const last = new Map<string, EventData<'block:gate'>>()
  for (const event of events) {
    if (event.type === 'block:gate' && event.data.phase === phase) last.set(event.data.gate, event.data)
  }
  return [...last.values()]
}

function asVerdict({ gate, type, status, reason, duration_ms, input_hash }: EventData<'block:gate'>): Verdict {
  return { name: gate, type, passed: status === 'passed', status, reason, facts: {}, duration_ms, input_hash }
}
