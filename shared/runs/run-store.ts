import type { Block, CompletionSettings } from '../dag/dag.ts'
import type { FinalStatus } from '../goals/decision-table.ts'
import { PIPELINE_ROLE } from '../research/loop-entity.ts'
import type { Json } from '../text/json.ts'
import type { Amount, Spent } from './budget.ts'
import type { Bulks } from './bulk.ts'
import type { Caps } from './caps.ts'
import type { DeadWebhooks } from './dead-webhook.ts'
import type { RunMarks } from './erasure.ts'
import type { NewEvent, RunEvent } from './event.ts'
import type { FactsIndex } from './facts-index.ts'
import type { Head, HeadApproval, HeadModule, OutboxEntry, Paused, Rest, RestartMode, RunState } from './head.ts'
import type { KeyQueue, KeyQueueName, RunTurn } from './key-queue.ts'
import type { ChangedLabels, Labels, RunNote } from './labels.ts'
import type {
  ApprovalItem,
  ArtifactItem,
  BlockProjection,
  CachedResult,
  ContextItem,
  DocumentChange,
  JoinItem,
} from './run-store-items.ts'
import type { SavedViews } from './views.ts'

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
  /** An agent that had read what others wrote began this run, or fed what did. */
  readonly tainted?: true
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
  /** It takes turns with the runs of one key. */
  readonly turn?: RunTurn
  /** Seconds by which it stands in queues as if it had been started earlier; absent = 0. */
  readonly priority?: number
  readonly parent?: ParentLink
  /** The run this one goes on from. */
  readonly continues?: string
  /** The run whose completed results stand in for dispatches of this one, but for the blocks that begin `again`. */
  readonly retry_of?: { readonly run_id: string; readonly again: readonly string[]; readonly transcript?: KeptTurns }
  /** The run this one takes the place of: somebody rejected what it asked, with words to go on from. */
  readonly iterates?: {
    readonly run_id: string
    readonly approval_id: string
    readonly mode: RestartMode
    readonly feedback_ref: string
  }
  /** The run whose goal it tries again, since that one ended PARTIAL; the text says what was missing, and what to change. */
  readonly pivots?: { readonly run_id: string; readonly feedback_ref: string }
  /** The run whose end or event fired the trigger that started it, and how many firings in a row led here. */
  readonly follows?: { readonly run_id: string; readonly depth: number }
  /** The first run of its lineage; absent = it is no linked run. */
  readonly root?: string
  /** Absent = a DAG. A chain runs on a machine of its own; its document has no blocks (shared/research). */
  readonly kind?: 'research'
  /** What its gates judge it by at its end, fixed at its start; absent = it ends as its blocks do. */
  readonly goal?: RunGoal
  /** Of a research run: object ref of what was asked (shared/research/payloads/intent.ts). */
  readonly intent_ref?: string
  /** It ran at another stage and was taken over from there when it had ended: its execution is nothing this stage knows of. */
  readonly imported?: { readonly at: string; readonly by: string }
  /** Where the end of its hash chain will be written besides, as the settings were when it started; absent = nowhere. */
  readonly anchor?: 's3-object-lock'
  /** At its start; HEAD has what was changed since. Absent = none. */
  readonly labels?: Labels
  /** Whose data it holds: digests (shared/runs/subject.ts). Absent = nobody said. */
  readonly subjects?: readonly string[]
  /** Words of its outputs are searched for: they are listed when it has ended. */
  readonly searched?: true
}

/** Everything that is kept of an ended run, of whichever store; task tokens and joins were its machine's. */
export interface EndedRun {
  readonly meta: Meta
  readonly head: Head
  readonly context: ContextItem
  /** All of them. */
  readonly events: readonly RunEvent[]
  /** Of blocks and of items. */
  readonly projections: readonly BlockProjection[]
  readonly approvals: readonly ApprovalItem[]
  readonly artifacts: readonly ArtifactItem[]
  readonly notes: readonly RunNote[]
  /** It is listed under. */
  readonly words: readonly string[]
}

/** When nobody could answer a question any more: it was decided, or the run ended. */
export function closingTime({ head, events }: Pick<EndedRun, 'head' | 'events'>, id: string): string {
  return head.approvals[id]?.decided_at ?? events.at(-1)?.at ?? head.deadline_at
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
  /** It waits for a slot among the active runs and owes no start yet. */
  readonly queued?: true
  /** Words of its inputs, which it is found by. */
  readonly words?: readonly string[]
}

export interface RunFilter {
  readonly state?: RunState
  readonly dag_name?: string
  /** Only runs whose id begins so. */
  readonly id_begins?: string
  readonly limit: number
  /** Opaque: the `next` of the page before. */
  readonly after?: string
}

export interface RunPage {
  readonly runs: readonly (Meta & { readonly head: Head })[]
  /** Of the page: what is stored of them cannot be read. They keep nobody from the others. */
  readonly damaged?: readonly DamagedRun[]
  readonly next?: string
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
 * transaction. Reads are consistent. Protocol: docs/architecture.md; faults: docs/faults.md; suite:
 * test/conformance/run-store-suite.ts. A third place writes RunLog first: the rest stands beside what it keeps.
 */
export interface RunStore extends RunLog, RunItems, RunMarks, TenantItems {}

/** The durable core: a run's HEAD, META and events, and the one write that moves it. */
interface RunLog {
  /** HEAD, META and CTX, if no HEAD is there. run:started gets seq 1, on lane `run` at PHASE.claimed. */
  create(run: NewRun): Promise<{ readonly created: boolean; readonly meta: Meta }>
  meta(run: RunKey): Promise<Meta | undefined>
  head(run: RunKey, lanes?: readonly string[]): Promise<Head | undefined>
  append(append: Append): Promise<Appended>
  /** Appends handed over one after the other, without waiting for the answers, are taken in that order and in one commit. */
  readonly in_order?: true
  /** Events with seq > since, ascending, at most `limit`. */
  events(run: RunKey, since: number, limit: number): Promise<readonly RunEvent[]>
  /** Takes an ended run of another store as it is; false: a run of that id is there, which stays. It owes nothing here, and nobody looks at it. */
  adopt(run: EndedRun): Promise<boolean>
  /** How far the hash chain is closed: seq of its last event, and the hash there. All of it once an ended run is at rest. */
  sealed(run: RunKey): Promise<{ readonly seq: number; readonly hash: string } | undefined>
}

/** Turns of an earlier run's agent that the same block of this one begins behind. */
export interface KeptTurns {
  readonly block: string
  /** How many, from the first. */
  readonly turns: number
  /** What the agent is told before its next turn. */
  readonly say?: string
}

/** Items beside HEAD. They may only be written for a run that was created. */
interface RunItems {
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
  /**
   * Moves check_at after a look (undefined removes it), only while it still is `was` and, where `seq` is given, HEAD's seq
   * still is that. Whoever moves it later gives the seq they saw: an append leaves an earlier check_at as it is, so what was
   * appended since may be due before the new one.
   */
  moveCheck(run: RunKey, was: string, to: string | undefined, seq?: number): Promise<void>
  /** Marks the run, or one block of it, as stopped for dispatches in flight (the tiny STOP item). */
  putStop(run: RunKey, block?: number): Promise<void>
  /** Whether the run is stopped, or that block of it. */
  stopped(run: RunKey, block?: number): Promise<boolean>
  context(run: RunKey): Promise<ContextItem | undefined>
  /** Compare-and-set on the version; false when another version is there. */
  putContext(run: RunKey, item: ContextItem, if_version: number): Promise<boolean>
  putArtifact(run: RunKey, item: ArtifactItem): Promise<void>
  artifacts(run: RunKey): Promise<readonly ArtifactItem[]>
  /**
   * Puts these labels in the place of those HEAD has, also of a run that has ended, only while theirs is the version before
   * (none: 1 is the first); false: it is not, or there is no such run.
   */
  putLabels(run: RunKey, labels: ChangedLabels): Promise<boolean>
  /** Once an id, whoever repeats it. */
  putNote(run: RunKey, note: RunNote): Promise<void>
  /** Oldest first. */
  notes(run: RunKey): Promise<readonly RunNote[]>
}

/** What a tenant's runs share: lists and inboxes, results kept for others, slots, queues and counts. */
interface TenantItems
  extends Leases,
    RunQueue,
    KeyQueues,
    StartHolds,
    RequestRate,
    StoredBytes,
    NotedRequests,
    Turns,
    Lineages,
    GoalAttempts,
    Inbox,
    FactsIndex,
    Bulks,
    SavedViews,
    DeadWebhooks {
  /** Newest created_at first, then greater run_id; a `next` that `list` did not give: Fault InvalidInput bad_cursor. */
  list(tenant: string, filter: RunFilter): Promise<RunPage>
  /** META and HEAD of runs, in the order given; those that are gone are left out. */
  summaries(tenant: string, run_ids: readonly string[]): Promise<Pick<RunPage, 'runs' | 'damaged'>>
  /** Lists a run under further words; it is under none twice. */
  addWords(run: RunKey, words: readonly string[]): Promise<void>
  /** Every word it is listed under, in order. */
  words(run: RunKey): Promise<readonly string[]>
  /** Runs whose check_at, or that of their mark, has come, and bulks by their id (bulk.ts): oldest first. */
  due(at: string, limit: number): Promise<readonly RunKey[]>
  /** The newest kept result of this definition and inputs, of whichever run of the tenant: the one of the latest `at`. */
  cached(tenant: string, block_hash: string, inputs_hash: string): Promise<CachedResult | undefined>
  putCached(tenant: string, block_hash: string, inputs_hash: string, result: CachedResult): Promise<void>
}

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

/** What an attempt that ends was, for telemetry alone: an agent that calls tools, or a call of one. */
export type AttemptWork = AgentWork | ToolWork

export interface AgentWork {
  readonly operation: 'invoke_agent'
  /** `id` is the same in every run of its document; `version` changes with its definition. */
  readonly agent: { readonly id: string; readonly name: string; readonly version?: string }
  /** Its name in sluice.yaml. */
  readonly provider: string
  readonly model: string
  readonly conversation_id?: string
  /** What was asked for. */
  readonly output?: 'text' | 'json'
  /** Of all its turns together; absent where it has none. */
  readonly answered?: {
    readonly turns: number
    readonly finish_reason: string
    readonly tokens_in: number
    readonly tokens_out: number
    readonly usd?: number
  }
}

export interface ToolWork {
  readonly operation: 'execute_tool'
  /** As the model was shown it. */
  readonly tool: { readonly name: string; readonly description: string }
  /** The provider's own id of the call. */
  readonly call_id: string
  /** As the document names it. */
  readonly use: string
  /** What the model wrote and what it was told; leaves only where an operator asked for content. */
  readonly content?: { readonly arguments: string; readonly result?: string }
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
  /** Ends an attempt: removes the block (or the item) from `running`; with `items`, the first so many items of it too, or these. */
  readonly end?: { readonly block: number; readonly item?: number; readonly items?: number | readonly number[] }
  readonly approval?: ApprovalChange
  /** Others, each under the same condition: of a block that ends with several questions open. */
  readonly further_approvals?: readonly ApprovalChange[]
  /** Sets one bounce module; the lane's guard (`m<k>`) is what serialises it. */
  readonly module?: { readonly key: string; readonly set: HeadModule }
  /** Notes the child run this lane waits for. */
  readonly child?: { readonly lane: string; readonly run_id: string }
  /**
   * An append of one foreach item, on its lane `<block>.<i>`: also requires that the block's items are open and its own
   * lane is below `below` (its terminal phase of this epoch), else it is refused as `already`. Item lanes take no other
   * append: Fault Bug append_item_lane. With `most_failed`, refused as `items_failed` once more items of the block failed
   * for good (an append put them at PHASE.failed) since they were opened.
   */
  readonly item_of?: { readonly block: number; readonly below: number; readonly most_failed?: number }
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
  /** The run gives its slot back, comes back to one, or wants one, in the same update (docs/adr/0101). */
  readonly rest?: RestChange
  /** The run is paused from here on, or (null) is not any more; the guard of lane `pause` is what serialises it (docs/adr/0104). */
  readonly pause?: Paused | null
  readonly state?: RunState
  readonly deadline_at?: string
  /** Looked at by then at the latest: of this time and the one in HEAD the earlier stays; only `moveCheck` moves it on. */
  readonly check_at?: string
  readonly outbox?: readonly OutboxEntry[]
  /** Of an append that ends an attempt; no store keeps it. */
  readonly work?: AttemptWork
  /**
   * It records work that does nothing beyond its answer: whoever finds it missing does that again. A store that takes
   * appends in order may answer before this one is on the disk; it is, before any later append without this is answered.
   */
  readonly repeatable?: true
  /** B#, written after HEAD (SQLite: in the same transaction) and before the append resolves; forward only. */
  readonly projection?: BlockProjection
}

/** Sets one approval, if its present status is `was` (null = absent); with an object, if it is exactly that. */
export interface ApprovalChange {
  readonly id: string
  readonly was: HeadApproval | 'pending' | null
  readonly set: HeadApproval
}

/**
 * Moves where a run rests, if that is exactly `was` (null = it does not). One begins to rest only while nothing of it is in
 * `running`. Whoever ends a rest (`set` null) holds the run's lease already.
 */
export interface RestChange {
  readonly was: Rest | null
  readonly set: Rest | null
}

/**
 * Why nothing was written; when several hold, the first in this order is told. `unknown_run`: there is no HEAD.
 * `terminal`: the run has ended, whatever the step (also a repeat of one that was taken). `already`: the lane guard
 * failed, this step was taken, perhaps by this very writer; go on with what is recorded. `items_failed`: more items of
 * the block have failed than `most_failed`. `approval`: its status is not `was`. `resting`: the run holds no slot, so nothing starts, or its
 * rest is not as `rest` says. `full`: `running` is at its limit. `budget`: the estimate does not fit under a cap of the
 * run; `share`: under what the items of its block have left.
 */
export type Appended =
  | { readonly ok: true; readonly seq: number }
  | {
      readonly ok: false
      readonly because:
        | 'already'
        | 'terminal'
        | 'items_failed'
        | 'full'
        | 'approval'
        | 'resting'
        | 'budget'
        | 'share'
        | 'unknown_run'
    }

/** One question to people and the run it is about, as they are now. HEAD says what became of it. */
export interface Asked {
  readonly item: ApprovalItem
  readonly meta: Meta
  readonly head: Head
  /** ISO time it was asked, or of a closed one when that was. */
  readonly at: string
}

/** A question somebody was asked, of which what is stored cannot be read. */
export interface DamagedQuestion {
  readonly run_id: string
  readonly approval_id: string
  /** APPROVAL: the question itself. */
  readonly item: DamagedRun['item'] | 'APPROVAL'
  readonly seen: string
}

interface InboxPage {
  readonly asked: readonly Asked[]
  /** They keep nobody from the others. */
  readonly damaged?: readonly DamagedQuestion[]
  readonly next?: string
}

export interface InboxFilter {
  /** What was decided, has expired or was cancelled, newest first; false: what still is open, oldest first. */
  readonly closed: boolean
  readonly limit: number
  /** Opaque: the `next` of the page before. */
  readonly after?: string
}

/** Index 3 of the run store: what people of a tenant were asked, over all its runs. */
export interface Inbox {
  /**
   * One page, perhaps a short one; `next` where there may be more. The index is a hint: an open one may be closed by now,
   * which `shownApprovalStatus` tells of HEAD, and what HEAD does not know yet is left out; what cannot be read is named. Another
   * text than a `next` of this tenant and list: Fault InvalidInput bad_cursor.
   */
  inbox(tenant: string, filter: InboxFilter): Promise<InboxPage>
}

/** What HEAD says of one approval: a run that ended has cancelled what nobody decided. Undefined: not asked yet. */
export function shownApprovalStatus(
  { state, approvals }: Pick<Head, 'state' | 'approvals'>,
  id: string,
): Head['approvals'][string]['status'] | undefined {
  const status = Object.hasOwn(approvals, id) ? approvals[id]?.status : undefined
  return status === 'pending' && state !== 'running' ? 'cancelled' : status
}

/** Leases of one kind: `runs` (the tenant's active runs), `provider/<name>` (calls under way at one provider). */
export interface LeasePool {
  readonly tenant: string
  readonly name: string
}

export const MAX_LEASES = 1_000

/**
 * Counted permissions that survive crashes: a map of holders and the ends of their leases, at most 1,000 a pool
 * (docs/adr/0030; how AWS keeps a large one is docs/adr/0086). The store never judges an end: whoever finds the pool full
 * drops those that are over, when it knows that their holder is gone.
 */
export interface Leases {
  /**
   * True when the holder has a lease to that end now, because it had one or fewer than `cap` (at most MAX_LEASES) are
   * held: counting and taking are one conditional write.
   */
  takeLease(pool: LeasePool, holder: string, until: string, cap: number): Promise<boolean>
  /** Holder -> end, ISO time. */
  leases(pool: LeasePool): Promise<Readonly<Record<string, string>>>
  /** Who has none gets none, and a later end stays. One that dies in the middle has extended some. */
  extendLeases(pool: LeasePool, holders: readonly string[], until: string): Promise<void>
  /** With `until` only one that ends by then: who has taken it anew since keeps it. Repeating it is safe. */
  dropLease(pool: LeasePool, holder: string, until?: string): Promise<void>
}

/** The leases of a tenant's active runs; holders are run ids (docs/adr/0030). A run that rests has none (docs/adr/0101). */
export function runsPool(tenant: string): LeasePool {
  return { tenant, name: 'runs' }
}

/** How long a run keeps its place without the sweep's word for it. */
const PLACE_MS = 900_000

/** The end of a lease that is taken or extended now, ISO time. */
export function slotUntil(now: number): string {
  return new Date(now + PLACE_MS).toISOString()
}

/** A run that waits for a slot among the active ones, its first or one to go on with; `at` ISO time, its rank (`slotRank`). */
export interface QueuedRun extends RunKey {
  readonly at: string
}

/** Runs that were started over the cap with `safety.queue: true`, or rested: they exist, and wait for a lease. */
export interface RunQueue {
  enqueue(queued: QueuedRun): Promise<void>
  /** Oldest first. */
  queued(tenant: string, limit: number): Promise<readonly QueuedRun[]>
  dequeue(queued: QueuedRun): Promise<void>
  /**
   * ONE conditional write on HEAD: it is queued no more, owes its start from now on, and its deadline counts from here.
   * false when it is not queued (any more) or has ended.
   */
  releaseQueued(
    run: RunKey,
    release: { readonly at: string; readonly deadline_at: string; readonly check_at: string },
  ): Promise<boolean>
  /**
   * ONE conditional write on HEAD, as an append's `rest` and nothing else; with `deadline_at` that too. false when the run
   * does not stand so (any more), has ended, or is at work and may not rest.
   */
  moveRest(run: RunKey, rest: RestChange, deadline_at?: string): Promise<boolean>
}

/** A key's queue as it is stored; `version` undefined: none is. */
export interface StoredKeyQueue extends KeyQueue {
  readonly version: string | undefined
}

/** Runs of one key that take turns (docs/adr/0099). What may become of a queue says shared/runs/key-queue.ts. */
export interface KeyQueues {
  keyQueue(of: KeyQueueName): Promise<StoredKeyQueue>
  /** ONE conditional write: only while the stored one has that version. One in which nobody stands is put away. */
  putKeyQueue(of: KeyQueueName, queue: KeyQueue, version: string | undefined): Promise<boolean>
}

/** Nobody may start a run of the tenant, or of one document of it, until it is released; who said so, and when (ISO time). */
export interface StartHold {
  readonly by: string
  readonly at: string
  readonly reason?: string
}

/** The tenant's SWITCH item; with `dag` that of the runs of one document, by its name. */
export interface StartHolds {
  startHold(tenant: string, dag?: string): Promise<StartHold | undefined>
  /** The newest one stays. */
  holdStarts(tenant: string, hold: StartHold, dag?: string): Promise<void>
  /** false when nothing was held. */
  releaseStarts(tenant: string, dag?: string): Promise<boolean>
}

/** One run of a lineage: made from run `from`, by a retry, as its next cycle, by a rejected approval or as a pivot. */
export interface RunLink {
  readonly run_id: string
  readonly from: string
  readonly kind: 'retry' | 'continue' | 'iterate' | 'pivot'
  /** ISO time. */
  readonly at: string
}

/** How many runs took the place of one another on the way from the root to this one, itself counted. */
export function iterationsUpTo(lineage: readonly RunLink[], run_id: string): number {
  const links = new Map(lineage.map((link) => [link.run_id, link]))
  let count = 0
  for (let link = links.get(run_id); link !== undefined; link = links.get(link.from)) {
    count += Number(link.kind === 'iterate')
    links.delete(link.run_id)
  }
  return count
}

/** The runs that came of one root run, which itself is none of them. */
export interface Lineages {
  /** Once a run, whoever repeats it. */
  linkRun(tenant: string, root: string, link: RunLink): Promise<void>
  /** Oldest first. */
  lineage(tenant: string, root: string): Promise<readonly RunLink[]>
}

/** A failed attempt at the goal of a lineage: the evaluation of one of its runs that ended NOT_MET. */
export interface StoredGoalAttempt {
  /** From 1, without gaps. */
  readonly n: number
  readonly run_id: string
  /** ISO time. */
  readonly at: string
  readonly status: FinalStatus
  /** shared/goals/pivot.ts. */
  readonly fingerprint: string
  /** Ids of the criteria it did not meet. */
  readonly unmet: readonly string[]
  readonly metCount: number
  readonly totalCount: number
}

/** The failed attempts of a root run and of all that came of it. */
export interface GoalAttempts {
  /** In order of their numbers. */
  goalAttempts(tenant: string, root: string): Promise<readonly StoredGoalAttempt[]>
  /**
   * Notes it as number `n`, once: false = another run's attempt has that number. A repeat of the same run's is true, and
   * what was noted first stays.
   */
  putGoalAttempt(tenant: string, root: string, n: number, attempt: Omit<StoredGoalAttempt, 'n'>): Promise<boolean>
}

/**
 * How many bytes of bodies a tenant stored, by week (docs/adr/0068): what of them is not kept any more drops out with its
 * week. A count that is sent again counts again, on the careful side.
 */
export interface StoredBytes {
  /** Adds to a week. `ttl`: when its count may be forgotten, in seconds. */
  countStored(
    tenant: string,
    stored: { readonly week: string; readonly bytes: number; readonly ttl: number },
  ): Promise<void>
  /** Of that week and every later one. */
  storedSince(tenant: string, week: string): Promise<number>
}

const DAY_MS = 86_400_000

/** The Monday (UTC) of a moment's week: `2026-11-23`. */
export function weekOf(now: number): string {
  const day = Math.floor(now / DAY_MS)
  // 1970 began on a Thursday.
  const monday = day - ((day + 3) % 7)
  return new Date(monday * DAY_MS).toISOString().slice(0, 10)
}

/** The first week of which a body may still be there that is kept for so many days. */
export function oldestKeptWeek(now: number, kept_days: number): string {
  return weekOf(Math.max(0, now - kept_days * DAY_MS))
}

/** When nothing of a week is there any more, in seconds. */
export function weekExpirySeconds(week: string, kept_days: number): number {
  return Math.floor((Date.parse(week) + (7 + kept_days) * DAY_MS) / 1_000)
}

/** How many requests of one caller were counted in one window of time. */
export interface RequestRate {
  /** ONE conditional write: counts this one if fewer than `cap` were counted in that window; false = too many. */
  countRequest(tenant: string, caller: string, window: string, cap: number): Promise<boolean>
}

/** A request from outside that may come more than once: the route, and what makes it the same one. */
export interface RequestIdentity {
  readonly tenant: string
  readonly route: string
  readonly key: string
}

/** Known for a day. */
export interface NotedRequests {
  /** ONE conditional write: `first` once; later `open` until what it asked for was done, then `done`. */
  noteRequest(request: RequestIdentity): Promise<'first' | 'open' | 'done'>
  endRequest(request: RequestIdentity): Promise<void>
}

/** What only one worker at a time may do. Names are hashed by the store: they may be anything. */
export interface TurnName {
  readonly tenant: string
  readonly name: string
}

/** Turns end by themselves, so a worker that died keeps nobody waiting for longer than it asked for. */
export interface Turns {
  /** ONE conditional write: true when `by` has the turn until then, because nobody has it at `now` (both ISO times). */
  takeTurn(of: TurnName, by: string, now: string, until: string): Promise<boolean>
  /** Only one's own. */
  endTurn(of: TurnName, by: string): Promise<void>
}

/** Started by a caller, by a block of another run, or, by whomever, as a question to the knowledge graph. */
export const RUN_ROLES = ['root', 'child', PIPELINE_ROLE] as const
export type RunRole = (typeof RUN_ROLES)[number]

export function runRole({ kind, parent }: Pick<Meta, 'kind' | 'parent'>): RunRole {
  if (kind === 'research') return PIPELINE_ROLE
  return parent === undefined ? 'root' : 'child'
}

/** What a run knows of the document of a child run since it was started: what its questions bind must not change later. */
export interface ChildDocument {
  /** sha256 of the document as it is bound to this place, and of those below it. */
  readonly hash: string
  /** Whether a run of it, or one below, may ask people anything. */
  readonly asks: boolean
  /** Whether a run of it can complete without having asked what it would ask. */
  readonly skippable: boolean
}

/** What is known of the document of the child run a block opens. */
export function childDocumentOf(block: Block, children: Meta['children'] = {}): ChildDocument | undefined {
  if (block.mode !== 'dag' || !Object.hasOwn(children, block.dag.name)) return undefined
  return children[block.dag.name]
}
