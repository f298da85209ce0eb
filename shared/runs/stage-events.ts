import type { Stage } from '../research/stage.ts'
import type { RunEvent } from './event.ts'

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
