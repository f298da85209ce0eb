import type { Stage } from '../research/stages.ts'
import type { EventType, RunEvent } from './event.ts'
import { laneOwner, readOrdinal } from './lane.ts'
import type { StepFold } from './run-fold.ts'

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

/** The types that end a run: exactly one of them is its last event. */
export const RUN_ENDS = [
  'run:completed',
  'run:partial',
  'run:blocked',
  'run:failed',
  'run:cancelled',
  'run:iterated',
] as const satisfies readonly EventType[]

export function isRunEnd(type: string): boolean {
  return RUN_ENDS.some((end) => end === type)
}

/** What records each stage of the research chain. */
export const STAGE_EVENTS = {
  'research:classified': 'nl_classify',
  'research:routed': 'route_search',
  'research:executed': 'execute_subqueries',
  'research:assessed': 'assess_sufficiency',
  'research:synthesized': 'synthesize_answer',
} as const satisfies Readonly<Record<string, Stage>>

export type StageEvent = Extract<RunEvent, { readonly type: keyof typeof STAGE_EVENTS }>

export function isStageEvent(event: RunEvent): event is StageEvent {
  return Object.hasOwn(STAGE_EVENTS, event.type)
}

/** Epoch, attempt and item stand in the event's id, `<lane>/<ordinal>/<i>`. */
export function eventPlace({ id, attempt }: RunEvent): Pick<StepFold, 'epoch' | 'attempt' | 'item'> {
  const [lane = '', position] = id.split('/')
  const place = readOrdinal(Number(position))
  const item = laneOwner(lane)?.item
  return { epoch: place.epoch, attempt: attempt ?? place.attempt, ...(item === undefined ? {} : { item }) }
}
