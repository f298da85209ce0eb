import { MOST_UPLOAD_BYTES } from '../ports/objects.ts'
import { runIdOfKey } from '../runs/ids.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'

/** What starts runs of a document by itself (docs/triggers.md), as its section `triggers` says, with its defaults. */
export type Trigger = ScheduleTrigger | WebhookTrigger | EventTrigger | RunTrigger | ObjectTrigger

interface CommonTrigger {
  /** Unique in its document. */
  readonly name: string
  /** Run inputs by name: a value, or `{% JSONata %}`. */
  readonly inputs: Readonly<Record<string, Json>>
  /** Of its runs, in queues: seconds by which they stand as if they had been started earlier. */
  readonly priority?: number
  /** Of several firings shortly one after the other the last stands for all; never of a schedule. */
  readonly debounce?: Debounce
  /** Firings over it are left out; never of a schedule. */
  readonly rate?: Rate
}

export interface Debounce {
  /** Seconds nothing must have come for. */
  readonly for_sec: number
  /** Seconds from the first of them, however many come. */
  readonly at_most_sec: number
}

/** So many starts in any stretch of time of this length. */
export interface Rate {
  readonly limit: number
  readonly per_sec: number
}

export interface ScheduleTrigger extends CommonTrigger {
  readonly kind: 'schedule'
  readonly schedule: Schedule
}

export interface WebhookTrigger extends CommonTrigger {
  readonly kind: 'webhook'
  readonly webhook: Webhook
}

export interface EventTrigger extends CommonTrigger {
  readonly kind: 'event'
  readonly event: {
    readonly name: string
    /** JSONata; anything but true is no match. */
    readonly match?: string
    /** Run inputs by name, each JSONata. */
    readonly map: Readonly<Record<string, string>>
  }
}

export interface RunTrigger extends CommonTrigger {
  readonly kind: 'run'
  readonly run: {
    /** Name of the deployed document whose runs it waits for. */
    readonly dag: string
    /** How such a run has to end. */
    readonly ends: readonly TriggeringEnd[]
    /** Run inputs by name, each JSONata. */
    readonly map: Readonly<Record<string, string>>
  }
}

export interface ObjectTrigger extends CommonTrigger {
  readonly kind: 'object'
  readonly object: {
    /** What the key begins with; empty only where there is a suffix. */
    readonly prefix: string
    readonly suffix: string
    /** Larger ones start nothing, and are listed as failed. */
    readonly max_bytes: number
    /** Run inputs by name, each JSONata. */
    readonly map: Readonly<Record<string, string>>
  }
}

/** One that was iterated goes on in another run. */
export const TRIGGERING_ENDS = ['completed', 'partial', 'blocked', 'failed', 'cancelled'] as const
export type TriggeringEnd = (typeof TRIGGERING_ENDS)[number]

/** What becomes of a firing while a run of the one before still goes on. */
export const OVERLAPS = ['skip', 'allow', 'queue'] as const
/** Which of the times that passed while nobody looked are made up for. */
export const CATCH_UPS = ['none', 'last', 'all'] as const

export interface Schedule {
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly cron: string
  /** IANA name. */
  readonly timezone: string
  readonly overlap: (typeof OVERLAPS)[number]
  readonly catch_up: (typeof CATCH_UPS)[number]
}

export interface Webhook {
  readonly verify: { readonly hmac: Hmac }
  /** JSONata whose answer makes a message the same firing as another one; absent: the message itself does. */
  readonly dedupe?: string
  /** Run inputs by name, each JSONata. */
  readonly map: Readonly<Record<string, string>>
  readonly max_body_bytes: number
  readonly max_per_minute: number
}

export const HMAC_ENCODINGS = ['hex', 'base64'] as const
export const HMAC_ALGORITHMS = ['sha256', 'sha512'] as const

/** How a sender proves itself: a keyed hash over the bytes of the body, in a header. */
export interface Hmac {
  /** In small letters. */
  readonly header: string
  /** Name of an entry of `triggers.secrets` in sluice.yaml. */
  readonly secret: string
  readonly algorithm: (typeof HMAC_ALGORITHMS)[number]
  readonly encoding: (typeof HMAC_ENCODINGS)[number]
  /** What stands before the hash in the header. */
  readonly prefix: string
  /** When it was sent, which is signed too: `<time>.<body>`. Older or newer by more than the window is refused. */
  readonly timestamp?: { readonly header: string; readonly window_sec: number }
}

export const TRIGGER_LIMITS = {
  /** Of one document. */
  triggers: 20,
  /** Inputs of one trigger. */
  inputs: 100,
  program_characters: 2_000,
  dedupe_characters: 256,
  body_bytes: 65_536,
  most_body_bytes: 262_144,
  per_minute: 60,
  most_per_minute: 600,
  window_sec: 300,
  most_window_sec: 3_600,
  /** Of times that were missed, the newest so many are made up for by `catch_up: all`. */
  caught_up: 100,
  /** Firings of one trigger that may wait for the run before them. */
  queued: 100,
  /** A run that was started by the end of one that was started so, or by an event of one, and so on: so often in a row. */
  depth: 8,
  /** Of the outputs that expressions about the end of a run read. */
  outputs_bytes: 1_048_576,
  /** Of the prefix and of the suffix of keys of objects. */
  key_characters: 200,
  /** Of one object: as much as `read-input` reads. */
  object_bytes: 10_485_760,
  most_object_bytes: MOST_UPLOAD_BYTES,
  most_debounce_sec: 3_600,
  most_joined_sec: 21_600,
  /** Firings that one may stand for. */
  joined: 200,
  most_rate: 100,
  most_rate_sec: 86_400,
} as const

/** Names one trigger of a place. */
export interface TriggerKey {
  readonly tenant: string
  /** Name of the deployed document, as runs are started by. */
  readonly document: string
  readonly trigger: string
}

/** The run of a firing: the same whoever starts it, and however often. */
export function runIdOfFiring({ tenant, document, trigger }: TriggerKey, id: string): string {
  return runIdOfKey(tenant, FIRING_ROUTE, firingKey({ document, trigger }, id))
}

/** What its run is made under, where others have method and path. */
export const FIRING_ROUTE = 'trigger'

export function firingKey({ document, trigger }: Omit<TriggerKey, 'tenant'>, id: string): string {
  return canonicalJson([document, trigger, id])
}

/** The firing of a time of a schedule. */
export function idOfTime(time: string): string {
  return `time:${time}`
}

/** The firing of a message: what its `dedupe` says, else the bytes that were signed. */
export function idOfMessage(of: { readonly dedupe: string } | { readonly signed: Uint8Array }): string {
  return 'dedupe' in of ? `key:${of.dedupe}` : `message:${sha256(of.signed)}`
}

/** The firing of an event of outside. */
export function idOfEvent(id: string): string {
  return `event:${id}`
}

/** The firing of the end of a run. */
export function idOfRunEnd(run_id: string): string {
  return `run:${run_id}`
}

/** The firing of one version of an object: its key may have a thousand characters, and is nobody's who lists firings for long. */
export function idOfObject({ key, version }: { readonly key: string; readonly version: string }): string {
  return `object:${sha256(canonicalJson([key, version]))}`
}

/** Expressions that give run inputs of what came; those of a schedule read nothing. */
export function mapOf(trigger: Trigger): Readonly<Record<string, string>> {
  if (trigger.kind === 'webhook') return trigger.webhook.map
  if (trigger.kind === 'event') return trigger.event.map
  if (trigger.kind === 'object') return trigger.object.map
  return trigger.kind === 'run' ? trigger.run.map : {}
}

/** A text that is wholly one expression. */
export function expressionOf(value: Json): string | undefined {
  return typeof value === 'string' ? /^\s*\{%([\s\S]*)%\}\s*$/.exec(value)?.[1]?.trim() : undefined
}

/** What an expression of a trigger is given to read. */
export function programWithTime(program: string): string {
  // A transform knows no clock: the time of the firing is the same however often it is tried.
  return `($now := function($picture, $zone) { $fromMillis($toMillis($$.firing.at), $picture, $zone) }; $millis := function() { $toMillis($$.firing.at) }; ${program}\n)`
}
