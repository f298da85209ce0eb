import type { Principal } from '../auth/principal.ts'
import type { Scope } from '../auth/scopes.ts'
import { base32 } from '../text/hash.ts'
import type { LabelChange } from './labels.ts'

/** What may be done with all that a search finds, and the scope it takes: that of the same done to one run. */
export const BULK_ACTIONS = {
  stop: 'runs:start',
  retry: 'runs:start',
  erase: 'admin:erase',
  label: 'runs:start',
} as const satisfies Readonly<Record<string, Scope>>

export type BulkAction = keyof typeof BULK_ACTIONS
export const BULK_ACTION_NAMES = Object.keys(BULK_ACTIONS) as readonly BulkAction[]

/** `planned`: nothing was done yet. `cancelled`: what was done by then stays done. */
export const BULK_STATES = ['planned', 'running', 'done', 'cancelled'] as const
export type BulkState = (typeof BULK_STATES)[number]

/** Most runs one bulk acts on; how long after it was shown it may be started. */
export const BULK_LIMITS = { runs: 10_000, planned_ms: 3_600_000 } as const

export interface BulkKey {
  readonly tenant: string
  readonly bulk_id: string
}

/** One action on many runs: on exactly those that were found when it was planned, whatever a search finds later. */
export interface Bulk extends BulkKey {
  /** Goes up with each write. */
  readonly version: number
  readonly action: BulkAction
  /** The search that found them. */
  readonly q: string
  /** Of an erasure and a stop: why. */
  readonly reason?: string
  /** Of a change of labels. */
  readonly labels?: LabelChange
  /** Who planned it, and alone may start it: each run is acted on with their rights. */
  readonly by: Principal
  readonly planned_at: string
  /** Runs that were found: the list is as long. */
  readonly count: number
  /** There were more than a bulk acts on, or than a search looks at: the newest are these. */
  readonly more?: true
  readonly state: BulkState
  readonly started_at?: string
  /** How many runs, from the first of the list on, have their outcome. */
  readonly next: number
  readonly done: number
  readonly refused: number
  readonly cancelled?: { readonly by: string; readonly at: string }
  readonly ended_at?: string
}

/** What became of one run. */
export interface BulkOutcome {
  readonly at: string
  /** Absent: it was done. */
  readonly refused?: { readonly code: string; readonly message: string }
  /** Of a retry: the run that takes its place. */
  readonly run_id?: string
}

/** A run of a bulk: `n` is its place in the list. */
export interface BulkRun {
  readonly n: number
  readonly run_id: string
  readonly outcome?: BulkOutcome
}

/**
 * Bulks, as a part of the run store. Reads are consistent, every write is one conditional write and safe to repeat. Suite:
 * test/conformance/run-store-bulk-suite.ts.
 */
export interface Bulks {
  /** First the list, then the bulk: what is not whole is not there. Its version is 1. */
  putBulk(bulk: Bulk, run_ids: readonly string[]): Promise<void>
  bulk(key: BulkKey): Promise<Bulk | undefined>
  /** Compare-and-set: only while the stored one has the version before. `check_at`: when somebody has to look at it; undefined: never. */
  moveBulk(bulk: Bulk, check_at: string | undefined): Promise<boolean>
  /** Only while that is when it is looked at. */
  moveBulkCheck(key: BulkKey, was: string, to: string): Promise<void>
  /** When it is looked at next. */
  bulkCheck(key: BulkKey): Promise<string | undefined>
  /** Newest first, before the one of that id. */
  bulks(
    tenant: string,
    part: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<readonly Bulk[]>
  /** Runs of its list from the `from`th on. */
  bulkRuns(key: BulkKey, from: number, limit: number): Promise<readonly BulkRun[]>
  /** Once: the first outcome of a place in the list stays. */
  putBulkOutcome(key: BulkKey, n: number, outcome: BulkOutcome): Promise<void>
}

/** So many ids of runs a part of the list has: 16 KB. */
export const BULK_PART = 500

/** `bulk_` + the time it was planned, 9 digits of base 36, and 16 random characters: later ones are greater. */
export function newBulkId(now: number, random: Uint8Array): string {
  return `bulk_${now.toString(36).padStart(9, '0')}${base32(random, 16)}`
}

/** What `due` of the run store names beside runs. */
export function isBulkId(id: string): boolean {
  return id.startsWith('bulk_')
}
