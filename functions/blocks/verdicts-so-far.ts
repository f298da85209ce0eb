import type { Verdict } from '../../shared/gates/gate.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'

type Phase = 'pre' | 'post'

/** The verdicts an attempt has of one phase: of each gate the last one, in the order they were first given. */
export function verdictsSoFar(events: readonly NewEvent[], phase: Phase): readonly Verdict[] {
  return gatesSoFar(events, phase).map(asVerdict)
}

/** The same as the events tell them. */
export function gatesSoFar(events: readonly NewEvent[], phase: Phase): readonly EventData<'block:gate'>[] {
  const last = new Map<string, EventData<'block:gate'>>()
  for (const event of events) {
    if (event.type === 'block:gate' && event.data.phase === phase) last.set(event.data.gate, event.data)
  }
  return [...last.values()]
}

function asVerdict({ gate, type, status, reason, duration_ms, input_hash }: EventData<'block:gate'>): Verdict {
  return { name: gate, type, passed: status === 'passed', status, reason, facts: {}, duration_ms, input_hash }
}
