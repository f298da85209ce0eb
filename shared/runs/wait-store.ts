import { sha256 } from '../text/hash.ts'
import type { StoredValue } from './event.ts'
import type { LaneOwner } from './lane.ts'
import { laneKey } from './lane.ts'
import type { OutsideEvent } from './outside-event.ts'
import type { RunKey } from './run-store.ts'

/** One wait: an attempt of a block, or of an item of one, in one pass of its bounce module. */
export interface WaitPlace extends LaneOwner {
  readonly epoch: number
  readonly attempt: number
}

/** `3/0/1`, `3.12/0/1`: lane, epoch, attempt. */
export function waitId({ epoch, attempt, ...owner }: WaitPlace): string {
  return `${laneKey(owner)}/${epoch}/${attempt}`
}

/** Who is to be looked at when an event of its name comes. What it waits for stands in its document. */
export interface EventWait extends RunKey, WaitPlace {
  readonly name: string
  readonly key?: string
  /** ISO time after which nobody needs it. */
  readonly until: string
}

/** Events of one name, or of one name and key: a wait that names a key meets no others. */
export interface EventTopic {
  readonly tenant: string
  readonly name: string
  readonly key?: string | undefined
}

/** One text a topic of its tenant. Keys may be anything people write: their hash stands in for them. */
export function topicText({ name, key }: Pick<EventTopic, 'name' | 'key'>): string {
  return key === undefined ? name : `${name}#${sha256(key)}`
}

/** The topics an event belongs to: all of its name, and those of its name and key. */
export function topicsOfEvent({ tenant, name, key }: EventTopic): readonly EventTopic[] {
  return key === undefined
    ? [{ tenant, name }]
    : [
        { tenant, name },
        { tenant, name, key },
      ]
}

/** The one call of a callback's address that counts. */
export interface CallbackAnswer {
  /** ISO time. */
  readonly at: string
  /** Its body as a JSON value. */
  readonly payload: StoredValue
}

/** A part of a list; `after` is the `next` of the part before. */
interface Part {
  readonly limit: number
  readonly after?: string | undefined
}

/**
 * What waits need beside the log of their runs: events of outside that are kept, waits that look for them, calls of
 * callbacks, and the task tokens that wait. Reads are consistent, every write is one conditional write and safe to repeat.
 * Who waits registers first and then reads what is kept; who sends keeps it first and then reads who is registered: one of
 * the two sees the other. Suite: test/conformance/wait-store-suite.ts.
 */
export interface WaitStore {
  /** Keeps it once an id of its tenant, and lists it under its topics; answers the one that is kept, the first of that id. */
  keepEvent(event: OutsideEvent): Promise<OutsideEvent>
  /** Newest first; those that have expired at `now` (ISO time) are left out. */
  keptEvents(
    topic: EventTopic,
    part: Part & { readonly now: string },
  ): Promise<{ readonly events: readonly OutsideEvent[]; readonly next?: string }>
  register(wait: EventWait): Promise<void>
  /** In no order that means anything; some may have ended. */
  registered(topic: EventTopic, part: Part): Promise<{ readonly waits: readonly EventWait[]; readonly next?: string }>
  forget(wait: EventWait): Promise<void>
  /** Keeps the first answer of an epoch of a block for good, and answers that. */
  keepCallback(run: RunKey, of: Pick<WaitPlace, 'block' | 'epoch'>, answer: CallbackAnswer): Promise<CallbackAnswer>
  callback(run: RunKey, of: Pick<WaitPlace, 'block' | 'epoch'>): Promise<CallbackAnswer | undefined>
  /** Every token a wait ever had, in whatever order: a state that is tried again waits with a new one (docs/adr/0021). */
  addToken(run: RunKey, wait: string, token: string): Promise<void>
  tokens(run: RunKey, wait: string): Promise<readonly string[]>
  /** What addresses of callbacks of a tenant are signed with: made once, and the same ever after. */
  signingKey(tenant: string): Promise<Uint8Array>
  /** Where others reach this place: `https://host`, without an end. Undefined: nobody has said. */
  address(): string | undefined
}
