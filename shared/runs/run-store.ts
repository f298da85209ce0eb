import type { ChildDocument } from '../approvals/binding.ts'
import type { DocumentChange } from '../approvals/run-changes.ts'
import type { Json } from '../canonical.ts'
import type { CompletionSettings } from '../dag/completion.ts'
import type { DeadWebhooks } from '../webhooks/dead-webhook.ts'
import type { Append, Appended } from './append.ts'
import type { NewEvent, RunEvent } from './event.ts'
import type { GoalAttempts } from './goal-attempts.ts'
import type { Head, OutboxEntry, RestartMode, RunState } from './head.ts'
import type { Inbox } from './inbox.ts'
import type { Leases } from './leases.ts'
import type { Lineages } from './lineage.ts'
import type { NotedRequests } from './noted-requests.ts'
import type { RequestRate } from './request-rate.ts'
import type { Caps } from './run-caps.ts'
import type { ApprovalItem, ArtifactItem, BlockProjection, CachedResult, ContextItem, JoinItem } from './run-items.ts'
import type { RunQueue } from './run-queue.ts'
import type { StartHolds } from './start-hold.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Turns } from './turns.ts'

/** Names one run. Every key of every item starts with the tenant. */
export interface RunKey {
  readonly tenant: string
  readonly run_id: string
}

/** The block of another run that waits for this one. Its tokens lie beside META and leave the store only to be answered. */
export interface ParentLink {
  readonly run_id: string
  readonly block_id: string
  readonly epoch: number
  readonly attempt: number
  /** What that block was claimed with, where a question of this run, or one before it, binds more than this run. */
  readonly binding_ref?: string
}

/** How a run is judged (docs/goal-gates.md); without a contract the goal gate is skipped. */
export interface RunGoal {
  /** The frozen contract: object ref of its canonical JSON, and the sha256 of that. */
  readonly contract_ref?: string
  readonly contract_hash?: string
  /** Whose contract it is. A request's goes before that of the document, which stays there to be read. */
  readonly source?: 'request' | 'dag'
  readonly completion: CompletionSettings
}

/** A context key a run began with that its document does not ask for, or that somebody had patched in a run before it. */
export interface GivenKey {
  readonly key: string
  /** As JSON, its first 300 characters. */
  readonly value: string
  readonly sha256: string
  /** The run it came along from; absent = it was given with the request. */
  readonly from?: string
  /** Who patched it there. */
  readonly by?: string
}

/** Written once with HEAD: what the run is pinned to. */
export interface Meta extends RunKey {
  readonly dag_name: string
  readonly dag_hash: string
  /** Object ref of the canonical normalised document. */
  readonly dag_ref: string
  /** Machine the run executes on: an ARN on AWS, `local:<hash>` locally. */
  readonly machine: string
  readonly starter: string
  /** The person, where `starter` is not their own name. */
  readonly starter_person?: string
  readonly created_at: string
  /** sha256 of the start request's canonical body: same key, other body is a conflict. */
  readonly body_hash: string
  readonly inputs_hash: string
  readonly overrides: Readonly<Record<string, Json>>
  /** How its document differs from the deployed one of its name, or from that of the run it retries; absent = it does not. */
  readonly edited?: DocumentChange
  /** Of its first context what a plain start of its document would not have. */
  readonly given?: readonly GivenKey[]
  /** By name, the documents of the child runs its blocks may open, as they were when it started. Absent: of an earlier version. */
  readonly children?: Readonly<Record<string, ChildDocument>>
  readonly options: { readonly max_parallel: number; readonly fail_fast: boolean; readonly deadline_sec: number }
  readonly blocks: number
  readonly parent?: ParentLink
  /** The run this one goes on from. */
  readonly continues?: string
  /** The run whose completed results stand in for dispatches of this one, but for the blocks that begin `again`. */
  readonly retry_of?: { readonly run_id: string; readonly again: readonly string[] }
  /** The run this one takes the place of: somebody rejected what it asked, with words to go on from. */
  readonly iterates?: {
    readonly run_id: string
    readonly approval_id: string
    readonly mode: RestartMode
    readonly feedback_ref: string
  }
  /** The run whose goal it tries again, since that one ended PARTIAL; the text says what was missing, and what to change. */
  readonly pivots?: { readonly run_id: string; readonly feedback_ref: string }
  /** The first run of its lineage; absent = it is no linked run. */
  readonly root?: string
  /** Absent = a DAG. A chain runs on a machine of its own; its document has no blocks (shared/research). */
  readonly kind?: 'research'
  /** What its gates judge it by at its end, fixed at its start; absent = it ends as its blocks do. */
  readonly goal?: RunGoal
  /** Of a research run: object ref of what was asked (shared/research/asked-intent.ts). */
  readonly intent_ref?: string
  /** Where the end of its hash chain will be written besides, as the settings were when it started; absent = nowhere. */
  readonly anchor?: 's3-object-lock'
}

export interface NewRun {
  readonly meta: Meta
  /** Task token of the parent's block. Each `create` ADDs its own, also one that finds the run there. */
  readonly parent_token?: string
  readonly context: Readonly<Record<string, Json>>
  readonly deadline_at: string
  readonly check_at: string
  /** run:started. */
  readonly event: NewEvent
  readonly outbox: readonly OutboxEntry[]
  /** Caps of its ledger, which begins at zero. */
  readonly caps?: Caps
  /** Of bodies that were stored for its start; absent = of none. */
  readonly stored_bytes?: number
  /** It waits for a place among the active runs and owes no start yet. */
  readonly queued?: true
}

export interface RunFilter {
  readonly state?: RunState
  readonly dag_name?: string
  readonly limit: number
  /** Opaque: the `next` of the page before. */
  readonly after?: string
}

/** A run whose items are there and are not what was written. */
export interface DamagedRun {
  readonly run_id: string
  /** META: what was started; HEAD: where it stands. */
  readonly item: 'META' | 'HEAD'
  readonly seen: string
}

export const DAMAGED_FIX =
  'Restore the store from a copy, or go on without this run; `sluice doctor` says what else is damaged.'

/**
 * The run store port. Every write is one conditional update and safe to repeat; SQLite does the same in one
 * transaction. Reads are consistent. Items beside HEAD may only be written for a run that was created. Protocol:
 * docs/architecture.md; faults: docs/faults.md; suite: test/conformance/run-store-suite.ts.
 */
export interface RunStore
  extends Leases,
    RunQueue,
    StartHolds,
    RequestRate,
    StoredBytes,
    NotedRequests,
    Turns,
    Lineages,
    GoalAttempts,
    Inbox,
    DeadWebhooks {
  /** HEAD, META and CTX, if no HEAD is there. run:started gets seq 1, on lane `run` at PHASE.claimed. */
  create(run: NewRun): Promise<{ readonly created: boolean; readonly meta: Meta }>
  meta(run: RunKey): Promise<Meta | undefined>
  head(run: RunKey, lanes?: readonly string[]): Promise<Head | undefined>
  append(append: Append): Promise<Appended>
  /** Events with seq > since, ascending, at most `limit`. */
  events(run: RunKey, since: number, limit: number): Promise<readonly RunEvent[]>
  /** How far the hash chain is closed: seq of its last event, and the hash there. All of it once an ended run is at rest. */
  sealed(run: RunKey): Promise<{ readonly seq: number; readonly hash: string } | undefined>
  /** Newest created_at first, then greater run_id; a `next` that `list` did not give: Fault InvalidInput bad_cursor. */
  list(
    tenant: string,
    filter: RunFilter,
  ): Promise<{
    readonly runs: readonly (Meta & { readonly head: Head })[]
    /** Of the page: what is stored of them cannot be read. They keep nobody from the others. */
    readonly damaged?: readonly DamagedRun[]
    readonly next?: string
  }>
  /** Runs whose check_at has come, oldest first. */
  due(at: string, limit: number): Promise<readonly RunKey[]>

  /** Only if its ordinal is greater than the stored one; else nothing happens. */
  putProjection(run: RunKey, projection: BlockProjection): Promise<void>
  /** Of blocks; those of items are asked for by their block. */
  projections(run: RunKey, blocks?: readonly number[]): Promise<readonly BlockProjection[]>
  /** The items of one foreach block, or those named, in item order: also after its end, and of an earlier epoch if no newer is there. */
  itemProjections(run: RunKey, block: number, items?: readonly number[]): Promise<readonly BlockProjection[]>
  /** Moves the lease of a running attempt of a block (or of one item); false when it is no longer this holder's. */
  renewLease(
    run: RunKey,
    of: { readonly block: number; readonly item?: number },
    holder: string,
    lease_until: string,
  ): Promise<boolean>

  /** The newest kept result of this definition and inputs, of whichever run of the tenant: the one of the latest `at`. */
  cached(tenant: string, block_hash: string, inputs_hash: string): Promise<CachedResult | undefined>
  putCached(tenant: string, block_hash: string, inputs_hash: string, result: CachedResult): Promise<void>
  /**
   * Every token the parent's block ever waited with, in order: a block state that is tried again waits with a new one
   * (docs/adr/0021). `answer_parent` answers them all; nobody else sees them.
   */
  parentTokens(run: RunKey): Promise<readonly string[]>

  /**
   * Writes the item if none is there, and ADDs the token: of two that ask at once the first asks for both, and a late write
   * of an older token must not hide a newer one (docs/adr/0021).
   */
  putApproval(run: RunKey, item: ApprovalItem, token: string): Promise<void>
  approvalTokens(run: RunKey, id: string): Promise<readonly string[]>
  approval(run: RunKey, id: string): Promise<ApprovalItem | undefined>
  /** Notes which message of Slack asks, once: who posted another and was late does not take its place. An approval that is not there stays so. */
  noteMessage(run: RunKey, id: string, message: NonNullable<ApprovalItem['slack']>): Promise<void>
  /** Every approval of the run, by id. */
  approvals(run: RunKey): Promise<readonly ApprovalItem[]>

  /** ONE conditional write: token is ADDed, need set, unless `need` sources are done; then the answer is 'done'. */
  waitJoin(
    run: RunKey,
    join: string,
    wait: { readonly need: number; readonly token: string },
  ): Promise<'waiting' | 'done'>
  /** ADD done {source}, returning the whole new item. */
  signalJoin(run: RunKey, join: string, source: string): Promise<JoinItem>

  /** Removes performed entries; recomputes nothing else. */
  settleOutbox(run: RunKey, ids: readonly string[]): Promise<void>
  /** Puts `to` in the place of an entry (undefined removes it), only while it is exactly `was`; the ids are one. */
  moveEntry(run: RunKey, was: OutboxEntry, to: OutboxEntry | undefined): Promise<boolean>
  /** Moves check_at forward after a look (undefined removes it), only while it still is `was`. */
  moveCheck(run: RunKey, was: string, to: string | undefined): Promise<void>

  /** Marks the run, or one block of it, as stopped for dispatches in flight (the tiny STOP item). */
  putStop(run: RunKey, block?: number): Promise<void>
  /** Whether the run is stopped, or that block of it. */
  stopped(run: RunKey, block?: number): Promise<boolean>

  context(run: RunKey): Promise<ContextItem | undefined>
  /** Compare-and-set on the version; false when another version is there. */
  putContext(run: RunKey, item: ContextItem, if_version: number): Promise<boolean>

  putArtifact(run: RunKey, item: ArtifactItem): Promise<void>
  artifacts(run: RunKey): Promise<readonly ArtifactItem[]>
}
