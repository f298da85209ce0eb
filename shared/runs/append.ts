import type { NewEvent } from './event.ts'
import type { HeadApproval, HeadModule, OutboxEntry, RunState } from './head.ts'
import type { Amount, Spent } from './run-budget.ts'
import type { Caps } from './run-caps.ts'
import type { BlockProjection } from './run-items.ts'
import type { RunKey } from './run-store.ts'

/**
 * Compare on the lane: `is` exact (null = absent), or `below` (absent counts as below). A guard that would let the lane
 * stay or go back is a Fault Bug append_backwards: event ids are made of lane and ordinal.
 */
export type LaneGuard = { readonly is: number | null } | { readonly below: number }

/** A lane, and where it is. */
export interface LaneStands {
  readonly lane: string
  readonly is: number | null
}

export interface Append {
  readonly run: RunKey
  readonly lane: string
  readonly ordinal: number
  readonly guard: LaneGuard
  /** ISO time given to the events. */
  readonly at: string
  /** 1 to 24 events, 8 KiB of JSON together, else Fault Bug append_empty or append_too_large. */
  readonly events: readonly NewEvent[]
  /** Claim: adds the block to `running` if fewer than `limit` run (0 = no limit). Never together with `end`. */
  readonly start?: { readonly block: number; readonly item?: number; readonly limit: number }
  /** Ends an attempt: removes the block (or the item) from `running`; with `items`, the first so many items of it too. */
  readonly end?: { readonly block: number; readonly item?: number; readonly items?: number }
  /** Sets one approval, if its present status is `was` (null = absent); with an object, if it is exactly that. */
  readonly approval?: { readonly id: string; readonly was: HeadApproval | 'pending' | null; readonly set: HeadApproval }
  /** Sets one bounce module; the lane's guard (`m<k>`) is what serialises it. */
  readonly module?: { readonly key: string; readonly set: HeadModule }
  /** Notes the child run this lane waits for. */
  readonly child?: { readonly lane: string; readonly run_id: string }
  /**
   * An append of one foreach item, on its lane `<block>.<i>`: also requires that the block's items are open and its own
   * lane is below `below` (its terminal phase of this epoch), else it is refused as `already`. Item lanes take no other
   * append: Fault Bug append_item_lane.
   */
  readonly item_of?: { readonly block: number; readonly below: number }
  /** A foreach block begins: from now on its items have lanes, and none yet. */
  readonly open_items?: { readonly block: number }
  /** The end of a foreach block: its item lanes leave HEAD in the same update, and none can come back. */
  readonly drop_items?: { readonly block: number }
  /** Commits an estimate before a call, if it fits under every cap: committed + estimate <= cap. */
  readonly reserve?: Amount
  /** After a call: committed += spent - reserved, spent += spent. Nothing reserved = zeros. */
  readonly settle?: { readonly reserved: Amount; readonly spent: Spent }
  /**
   * What this append reserves and settles counts also as that of a foreach block, whose items work side by side; a cap
   * is what is left to all of them together. `drop_items` forgets it.
   */
  readonly share?: Caps & { readonly block: number }
  /** Raises caps of the run's ledger to this, where they are lower; a unit without a cap gets none. Never together with `reserve`. */
  readonly raise?: { readonly tokens?: number; readonly usd_micros?: number }
  /** Bytes of bodies that were stored for this step, or before it by whoever takes it, and are in no append yet. */
  readonly stored_bytes?: number
  /** Also requires that other lanes stand exactly there (null = absent), else it is refused as `already`. */
  readonly while?: readonly LaneStands[]
  readonly state?: RunState
  readonly deadline_at?: string
  /** Looked at by then at the latest: of this time and the one in HEAD the earlier stays; only `moveCheck` moves it on. */
  readonly check_at?: string
  readonly outbox?: readonly OutboxEntry[]
  /** B#, written after HEAD (SQLite: in the same transaction) and before the append resolves; forward only. */
  readonly projection?: BlockProjection
}

/**
 * Why nothing was written; when several hold, the first in this order is told. `unknown_run`: there is no HEAD.
 * `terminal`: the run has ended, whatever the step (also a repeat of one that was taken). `already`: the lane guard
 * failed, this step was taken, perhaps by this very writer; go on with what is recorded. `approval`: its status is not
 * `was`. `full`: `running` is at its limit. `budget`: the estimate does not fit under a cap of the
 * run; `share`: under what the items of its block have left.
 */
export type Appended =
  | { readonly ok: true; readonly seq: number }
  | {
      readonly ok: false
      readonly because: 'already' | 'terminal' | 'full' | 'approval' | 'budget' | 'share' | 'unknown_run'
    }
