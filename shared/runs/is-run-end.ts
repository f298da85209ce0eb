import type { EventType } from './event.ts'

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
