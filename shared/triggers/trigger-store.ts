import type { StoredValue } from '../runs/event.ts'
import type { Schedule, Trigger, TriggerKey } from './trigger.ts'

/** One start that a trigger owes, or owed. */
export interface Firing extends TriggerKey {
  /** What makes it this firing: the same again is the same one (shared/triggers/trigger.ts). */
  readonly id: string
  readonly kind: Trigger['kind']
  /** ISO time it is for: of a schedule its time, else when it was taken. */
  readonly at: string
  /** ISO time it was kept. */
  readonly kept_at: string
  /** Who fired it by hand, `user:ana`, and the person where that is known; absent = it came by itself. */
  readonly by?: { readonly name: string; readonly person?: string }
  /** The run whose end or event it is, and how many firings led to the run it starts, this one among them. */
  readonly after?: { readonly run_id: string; readonly depth: number }
  /** What was dropped, where that fired it. */
  readonly object?: { readonly key: string; readonly bytes: number }
  /** The run inputs, as they were when it was kept. */
  readonly values?: StoredValue
  readonly state: FiringState
  /** The run it started, or will. */
  readonly run_id: string
  /** How often its start was tried and put off. */
  readonly tries: number
  /** ISO time of the first such try. */
  readonly put_off_at?: string
  /** ISO time before which it is not tried again. */
  readonly next_at: string
  /** ISO time from which on it is over. */
  readonly ended_at?: string
  /** Why it is put off, skipped or failed. */
  readonly reason?: { readonly code: string; readonly message: string }
}

/** `owed`: its run is still to be started, or may have been and nobody noted it. */
export const FIRING_STATES = ['owed', 'started', 'skipped', 'failed'] as const
export type FiringState = (typeof FIRING_STATES)[number]

/** Where a trigger stands. */
export interface TriggerState extends TriggerKey {
  /** Goes up with each write. */
  readonly version: number
  /** ISO time it was first seen. */
  readonly since: string
  /** Of a schedule: what it was, and the time up to which its times have been looked at. */
  readonly schedule?: Pick<Schedule, 'cron' | 'timezone'> & { readonly cursor: string }
  /** Of an event: as far as events have been looked at, and from when on they count. */
  readonly events?: { readonly cursor: string; readonly from: string }
  /** Of the end of runs and of objects: what came before it does not count; absent: it was never paused, nor taken away. */
  readonly ends_from?: string
  readonly paused?: { readonly by: string; readonly at: string; readonly reason?: string }
  /** Times that passed while nobody looked and that nothing was made up for: all of them so far. */
  readonly missed?: { readonly count: number; readonly more?: true; readonly last: string }
  /** Of a debounced one: the firing that stands for those that were kept between these times, both included. */
  readonly joined?: { readonly id: string; readonly run_id: string; readonly from: string; readonly until: string }
  /** Of one with a rate: the firings that were let through last, and when they were kept. */
  readonly counted?: readonly { readonly run_id: string; readonly at: string }[]
  /** The firing that has the turn, where runs of one trigger do not overlap. */
  readonly active?: { readonly id: string; readonly run_id: string }
  /** Of the whole place: the triggers there were at the last look. */
  readonly declared?: readonly { readonly document: string; readonly name: string; readonly kind: Trigger['kind'] }[]
}

/**
 * What triggers need beside the runs they start. Reads are consistent, every write is one conditional write and safe to
 * repeat. Suite: test/conformance/trigger-store-suite.ts.
 */
export interface TriggerStore {
  state(trigger: TriggerKey): Promise<TriggerState | undefined>
  /** Compare-and-set: only while the stored one has the version before it (none: 1 is the first). */
  putState(state: TriggerState): Promise<boolean>
  /** Keeps it once an id of its trigger; answers the one that is kept, the first of that id. */
  keepFiring(firing: Firing): Promise<Firing>
  firing(trigger: TriggerKey, id: string): Promise<Firing | undefined>
  /** Writes what became of it, only while it is owed; false: it is not, or not there. */
  moveFiring(firing: Firing): Promise<boolean>
  /** Forgets which inputs it gave its run, and what was dropped, unless it is owed: when that run is erased. */
  forgetInputs(trigger: TriggerKey, id: string): Promise<void>
  /** Newest `at` first; a `next` that it did not give is taken as it is. */
  firings(
    trigger: TriggerKey,
    part: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<{ readonly firings: readonly Firing[]; readonly next?: string }>
  /** Owed firings of a tenant, oldest `at` first. */
  owed(tenant: string, limit: number): Promise<readonly Firing[]>
  /** The same, for who starts them: what leads to firings that are over is put away. */
  takeOwed(tenant: string, limit: number): Promise<readonly Firing[]>
}
