import type { StageCall } from './stage-call.ts'

/** With less than this a chain only composes its answer: it must be recorded before the run is over. */
const SPARE_MS = 20_000

/** Why nothing more is begun. */
export const NO_TIME = 'timeout: less than 20 seconds of its time were left'

/** Milliseconds the run has for searching and asking; 0 or less = none. */
export function timeLeft({ world, head }: Pick<StageCall, 'world' | 'head'>): number {
  return Date.parse(head.deadline_at) - world.clock.now() - SPARE_MS
}
