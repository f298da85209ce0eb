import { isReservedKey } from '../limits.ts'
import { jsonProblem } from '../text/strict-json.ts'
import type { StoredValue } from './event.ts'

/**
 * An event of outside: something that happened, which any number of waits may wait for (docs/dag.md, "Wait"). It is no
 * event of a run's log. Who sends one names it; what it says lies in the object store.
 */
export interface OutsideEvent {
  readonly tenant: string
  /** Unique in its tenant: the same one again is the same event. */
  readonly id: string
  readonly name: string
  /** Waits that name a key see only events of that key. */
  readonly key?: string
  /** ISO time it was taken. */
  readonly at: string
  /** Until then it is kept for waits that are not there yet. */
  readonly expires_at: string
  readonly payload: StoredValue
  /** Who sent it: `user:ana`, `run:run_..`, `eventbridge`. */
  readonly by: string
}

export const EVENT_LIMITS = {
  name_characters: 128,
  key_characters: 256,
  id_characters: 128,
  payload_bytes: 65_536,
  /** How long an event is kept where its sender does not say, and at the most. */
  kept_sec: 604_800,
  most_kept_sec: 2_592_000,
  /** A wait asks its `match` about so many kept events in one look, newest first; where there are more its block fails. */
  judged: 10_000,
} as const

export const EVENT_NAME_RULE = 'a letter, then letters, digits and _ . : / -, 128 at most'

export function isEventName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$/.test(text) && !isReservedKey(text)
}

export const EVENT_KEY_RULE = '1 to 256 characters without control characters'

/** Keys and ids: anything people and systems call things by, but no text that would be read as another one. */
export function isEventKey(text: string, most: number = EVENT_LIMITS.key_characters): boolean {
  return (
    text.length > 0 &&
    text.length <= most &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) &&
    jsonProblem(text) === undefined
  )
}
