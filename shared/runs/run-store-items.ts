import type { ApprovalPolicy, PortType } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'
import type { Amount } from './budget.ts'
import type { EventData, StoredValue } from './event.ts'
import type { AskedAbout } from './head.ts'

export type BlockState =
  | 'pending'
  | 'ready'
  | 'running'
  | 'retrying'
  | 'paused_approval'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'

/** B#: the newest state of one block, or of one item of a foreach block, moved forward only (by ordinal). */
export interface BlockProjection {
  readonly block: number
  readonly item?: number
  readonly ordinal: number
  readonly state: BlockState
  readonly attempt: number
  /** Attempts of this pass, up to this one, that were no try of `retry`: lost, or given up as a person changed their inputs. */
  readonly untried?: number
  readonly outputs?: Readonly<Record<string, StoredValue>>
  readonly holder?: string
  readonly lease_until?: string
  readonly due_at?: string
  /** Why the last attempt failed, in the words the next attempt's prompt carries. */
  readonly failure?: {
    readonly code: string
    readonly reason: string
    readonly feedback?: readonly string[]
    /** Names of the gates that did not hold: what `on_gate_fail` looks at. */
    readonly gates?: readonly string[]
  }
  /** foreach: what `_items_<id>` found. */
  readonly items?: ForeachItems
  /** mode dag: the child run of this attempt. */
  readonly child?: string
  /** mode dag: what questions of that child bind of this run (shared/approvals/decision-binding.ts). */
  readonly binding_ref?: string
  /** Of the values this attempt works with, as its block:started has it. */
  readonly inputs_hash?: string
  /** What a completed attempt's outputs came of, for the run that takes them over. */
  readonly made?: OutputOrigin
  /** mode wait: what this attempt waits for, and what came. */
  readonly wait?: WaitNote
  /** While a person is asked about this attempt, and until what follows from the answer is told. */
  readonly asked?: AskedNote
  /** What this attempt has reserved and not settled: who finds it lost settles it as spent. */
  readonly reserved?: Amount
}

/** A wait as whoever ends it needs it: the events of its attempt say the same. */
export type WaitNote = EventData<'block:waiting'> & {
  /** ISO time. */
  readonly since: string
  readonly came?: EventData<'block:woken'>
  /** Ids of events its `match` could not judge. */
  readonly unjudged?: readonly string[]
}

/** What a block:asked says that its answer is acted on with. */
export type AskedNote = Pick<EventData<'block:asked'>, 'approval_id' | 'about' | 'inputs_ref'>

/** What a block:output says of the call behind its values, but for what that cost. */
export type OutputOrigin = Pick<
  EventData<'block:output'>,
  'provider' | 'model' | 'params_hash' | 'prompt_hash' | 'finish_reason' | 'raw_ref' | 'tainted'
>

/** The items of a foreach block, fixed when it began: what they work with lies in the object store. */
export interface ForeachItems {
  readonly count: number
  /** Ref of the block's resolved inputs, as JSON. */
  readonly inputs_ref: string
  /** Of an agent that acts: the first turn of the attempt; `count` is 0 then. */
  readonly turn?: number | undefined
  /** ISO time. */
  readonly since: string
}

/** C#: an earlier result of the same block definition and inputs. */
export interface CachedResult {
  readonly run_id: string
  readonly block_id: string
  /** ISO time of its completion. */
  readonly at: string
  /** As it was recorded when it was made. */
  readonly output: EventData<'block:output'>
}

/** A#: what a person was shown. Task tokens lie beside it and never leave the store but to be answered. */
export interface ApprovalItem {
  readonly id: string
  readonly block: number
  readonly block_id: string
  readonly prompt: string
  readonly shown: Readonly<Record<string, StoredValue>>
  readonly digest: string
  readonly requested_at: string
  readonly expires_at: string
  readonly on_timeout: 'reject' | 'fail' | 'approve'
  readonly approvers: readonly string[]
  readonly self_approval: boolean
  /** Absent = a dispatch. */
  readonly about?: AskedAbout
  /** Absent = 1. */
  readonly quorum?: number
  readonly remind_sec?: number
  readonly escalate?: ApprovalPolicy['escalate']
  readonly edit?: readonly string[]
  /** Of an agent's call: the types of what may be edited, which no document says. */
  readonly edit_types?: Readonly<Record<string, PortType>>
  /** Of an agent's call: the tool, as its document names it. */
  readonly tool?: string
  /** Who says yes may say it for every later call of the tool. */
  readonly allow_rest?: true
  /** Absent = fail. */
  readonly on_reject?: ApprovalPolicy['on_reject']
  /** The gates asked about, with their reasons. */
  readonly gates?: readonly { readonly name: string; readonly reason: string }[]
  /** The run's new caps if it is approved. */
  readonly raise?: { readonly tokens?: number; readonly usd_micros?: number }
  /** Of a dispatch: the inputs the block had when it was asked about, which are what it works with. */
  readonly inputs_ref?: string
  /** Of a dispatch: object of what a yes lets happen (shared/approvals/decision-binding.ts). Absent: of an earlier version. */
  readonly binding_ref?: string
  /** In what the run differed from a plain start of its deployed document when it was asked. */
  readonly changes?: RunChanges
  /** The message that asks. */
  readonly slack?: { readonly channel: string; readonly ts: string }
}

/** J#: `tokens` are all that ever waited; the ones of superseded waiters are dead, and answering them does nothing. */
export interface JoinItem {
  /** How many of its sources have ended. */
  readonly done: number
  readonly need?: number
  readonly tokens: readonly string[]
}

/** CTX: the run's shared context. Version 0 is what the run was started with. */
export interface ContextItem {
  readonly version: number
  readonly values: Readonly<Record<string, Json>>
}

/** F#: one artifact; the body lies in the object store. */
export interface ArtifactItem {
  readonly name: string
  readonly ref: string
  readonly sha256: string
  readonly bytes: number
  readonly media_type: string
  readonly block_id: string
  /** 0: it came with the context of the run this one continues. */
  readonly attempt: number
  /** How often its block had been sent back by then; absent = never. */
  readonly epoch?: number
  /** Of a foreach block: whose attempt it is. */
  readonly item?: number
  /** The run that wrote it, where that is an earlier one. */
  readonly from_run?: string
  /** A tool of an agent wrote it that had read what others wrote. */
  readonly tainted?: true
}

/**
 * In what a run differs from a plain start of its deployed document: shown first to whoever decides, in the inbox, in
 * Slack, by the CLI, in the console and in GET run (docs/approvals.md, "What a decision binds").
 */
export interface RunChanges {
  /** `value`: as JSON, its first 300 characters. */
  readonly overrides?: readonly { readonly port: string; readonly value: string; readonly sha256: string }[] | undefined
  /** Keys that the run began with and its document does not ask for (version 0), and those patched since. */
  readonly context?: readonly ChangedKey[] | undefined
  readonly document?: DocumentChange | undefined
  /** Of a question of a child run: the same of each run above it whose blocks go on after it, the nearest first. */
  readonly above?: readonly ChangesAbove[] | undefined
}

export interface ChangedKey {
  readonly key: string
  readonly version: number
  readonly by?: string | undefined
  /** Of what it began with: as JSON, its first 300 characters. */
  readonly value?: string | undefined
  readonly sha256?: string | undefined
  /** The run it came along from. */
  readonly from?: string | undefined
}

export interface ChangesAbove extends Omit<RunChanges, 'above'> {
  readonly run_id: string
  readonly dag_name: string
}

export interface DocumentChange {
  /** `deployed`; where no document of its name is, the run whose document it was, or `none`. */
  readonly of: string
  /** Of that one. */
  readonly dag_hash: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Blocks whose definition is another one. */
  readonly changed: readonly string[]
  /** Something outside of its blocks differs. */
  readonly other: boolean
}
