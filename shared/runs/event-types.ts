import type { EventType } from './event.ts'

/** Every type of event; the type holds the list complete. */
const TYPES: Readonly<Record<EventType, true>> = {
  'run:started': true,
  'run:completed': true,
  'run:partial': true,
  'run:blocked': true,
  'run:failed': true,
  'run:cancelled': true,
  'run:iterated': true,
  'block:ready': true,
  'block:started': true,
  'block:output': true,
  'block:gate': true,
  'block:retrying': true,
  'block:asked': true,
  'block:resumed': true,
  'block:completed': true,
  'block:failed': true,
  'block:skipped': true,
  'block:cancelled': true,
  'block:rerouted': true,
  'approval:requested': true,
  'approval:decided': true,
  'approval:refused': true,
  'approval:expired': true,
  'approval:reminded': true,
  'approval:escalated': true,
  'budget:reserved': true,
  'budget:exceeded': true,
  'goal:evaluated': true,
  'research:requested': true,
  'research:classified': true,
  'research:routed': true,
  'research:executed': true,
  'research:assessed': true,
  'research:synthesized': true,
  'research:continued': true,
  'context:patched': true,
}

/** The types of events, as a list: what may be subscribed to. */
export const EVENT_TYPES: readonly EventType[] = Object.keys(TYPES) as EventType[]
