import { runChanges } from '../approvals/find-run-changes.ts'
import { type QuestionDetails, questionDetails } from '../approvals/question-details.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { type ShownBudget, shownBudget } from '../runs/budget.ts'
import type { EventData, RunEvent, StoredValue } from '../runs/event.ts'
import { outputRef } from '../runs/fold-draft.ts'
import { foldRun } from '../runs/fold-run.ts'
import type { Head, ShownState } from '../runs/head.ts'
import { runApiPaths } from '../runs/ids.ts'
import { currentLabels, type Labels } from '../runs/labels.ts'
import type { ApprovalFold, BlockFold, RunFold, StepFold } from '../runs/run-fold.ts'
import { type Meta, type ParentLink, type RunLink, type RunRole, runRole } from '../runs/run-store.ts'
import type { ApprovalItem, BlockState, RunChanges } from '../runs/run-store-items.ts'
import { type AgentCounts, agentCounts } from '../runs/turns-and-calls.ts'
import { shownPrice } from '../runs/usage-cost.ts'
import { isWaiting, isWaitingForPeople, type ShownTurn, type Waiting, waitingWords } from '../runs/waiting.ts'

/** What GET run is made of; `events` are all events of the run, `approvals` what people were shown, if it was read. */
interface RunParts {
  readonly meta: Meta
  readonly dag: Dag
  readonly head: Pick<Head, 'budget' | 'deadline_at' | 'stored_bytes' | 'labels'>
  readonly events: readonly RunEvent[]
  /** What they fold to, if it is at hand. */
  readonly fold?: RunFold
  readonly approvals?: readonly ApprovalItem[]
  /** The runs that came of the same root, oldest first, if they were read. */
  readonly lineage?: readonly RunLink[]
  /** Milliseconds since 1970, for durations in words. */
  readonly now: number
  /** What the safety policy lowers `retry` to. */
  readonly max_attempts: number
  /** What a run may store. */
  readonly max_run_bytes: number
  /** Of a run whose HEAD says that it waits for a slot. */
  readonly queue?: Waiting['queue']
  /** Of a live run that takes turns with others of its key. */
  readonly turn?: ShownTurn | undefined
}

interface BlockAnswer {
  readonly state: BlockState
  readonly attempt: number
  /** As the document says; the safety policy may allow fewer. */
  readonly max_attempts: number
  readonly epoch: number
  readonly started_at?: string
  readonly ended_at?: string
  readonly output_ref?: string
  readonly outputs?: Readonly<Record<string, StoredValue>>
  readonly gates: readonly EventData<'block:gate'>[]
  readonly error?: { readonly code: string; readonly reason: string }
  readonly due_at?: string
  /** While a step works: how far it last said it is. */
  readonly progress?: BlockFold['progress']
  /** What the step of its newest attempt wrote. */
  readonly log?: BlockFold['log']
  /** The child run of its newest attempt (mode dag). */
  readonly child?: string
  /** The run whose result stands in for a dispatch. */
  readonly cached_from?: string
  readonly because?: readonly string[]
  readonly condition?: BlockFold['condition']
  readonly item_count?: number
  readonly items?: BlockFold['items']
  readonly first_turn?: number
  /** Of an agent that acts. */
  readonly agent?: AgentCounts
  readonly tokens: number
  /** null = no price is known. */
  readonly usd: number | null
  readonly unpriced_tokens?: number
}

type ApprovalAnswer = ApprovalFold &
  QuestionDetails & {
    readonly prompt: string
    readonly shown: Readonly<Record<string, StoredValue>>
  }

/** The body of GET /api/dag/runs/:id (docs/api.md). */
export interface RunAnswer {
  readonly run: LineageView & {
    readonly run_id: string
    readonly dag_name: string
    readonly dag_hash: string
    /** Its place among linked runs, or that it is a question (shared/runs/run-store.ts). */
    readonly role: RunRole
    /** The block that waits for it. */
    readonly parent?: ParentLink
    readonly state: ShownState
    readonly code?: string
    readonly reason?: string
    readonly final_status?: RunFold['final_status']
    readonly row?: RunFold['row']
    readonly goal?: RunFold['goal']
    readonly waiting_for?: string
    /** While somebody keeps it from going on. */
    readonly paused?: NonNullable<RunFold['paused']>
    /** Milliseconds it stood in pauses that are over. */
    readonly stood_ms?: number
    readonly turn?: ShownTurn
    readonly priority?: number
    readonly starter: string
    readonly labels?: Labels
    readonly changes?: RunChanges
    readonly created_at: string
    readonly started_at?: string
    readonly ended_at?: string
    readonly deadline: string
    readonly tokens: number
    /** Of the tokens whose price is known; null = of none of them. */
    readonly usd: number | null
    readonly unpriced_tokens?: number
    readonly budget: ShownBudget
    readonly storage?: { readonly stored_bytes: number; readonly quota_bytes: number }
    readonly last_seq: number
  }
  readonly blocks: Readonly<Record<string, BlockAnswer>>
  readonly steps: readonly StepFold[]
  readonly dag: Dag
  readonly approvals: readonly ApprovalAnswer[]
  /** Every run that came of the same root, oldest first; absent = there is none. */
  readonly lineage?: readonly RunLink[]
  readonly links: Readonly<Record<string, string>>
}

/**
 * Everything but deadline, budget and storage is folded from the events, so that the answer equals a replay
 * (docs/invariants.md, 23).
 */
export function viewRun({ events, fold = foldRun(events), ...parts }: RunParts): RunAnswer {
  const { meta, dag, head, approvals = [], lineage = [], ...rest } = parts
  const blocks = dag.blocks.map((block): [string, BlockAnswer] => [block.id, blockAnswer(block, fold)])
  const shown = new Map(approvals.map((item) => [item.id, item]))
  return {
    run: {
      ...runAnswer({ meta, dag, head, fold, ...rest }),
      ...changesOf(meta, events),
      ...viewLineage(meta, fold, lineage),
    },
    blocks: Object.fromEntries(blocks),
    steps: fold.steps,
    dag,
    approvals: Object.values(fold.approvals).map((approval) => approvalAnswer(approval, dag, shown)),
    ...(lineage.length === 0 ? {} : { lineage }),
    links: runApiPaths(meta.run_id),
  }
}

interface Folded extends Omit<RunParts, 'events' | 'fold' | 'approvals' | 'lineage'> {
  readonly fold: RunFold
}

function runAnswer({ meta, dag, head, fold, ...parts }: Folded): RunAnswer['run'] {
  const { run_id, dag_name, dag_hash, starter, created_at } = meta
  const { started_at, ended_at } = fold
  const labels = currentLabels(meta, head)
  const { kind, options, goal } = meta
  const { max_parallel } = options
  const waiting = waitingWords(dag, fold, { ...parts, kind, max_parallel, judged: goal !== undefined })
  return {
    run_id,
    dag_name,
    dag_hash,
    role: runRole(meta),
    ...(meta.parent === undefined ? {} : { parent: meta.parent }),
    state: isQueued(fold, parts) ? 'pending' : stateOf(dag, fold),
    ...(fold.paused === undefined ? {} : { paused: fold.paused }),
    ...(fold.stood_ms === undefined ? {} : { stood_ms: fold.stood_ms }),
    ...endOf(fold),
    ...(waiting === undefined ? {} : { waiting_for: waiting }),
    ...(parts.turn === undefined ? {} : { turn: parts.turn }),
    ...(meta.priority === undefined ? {} : { priority: meta.priority }),
    starter,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    created_at,
    ...(started_at === undefined ? {} : { started_at }),
    ...(ended_at === undefined ? {} : { ended_at }),
    deadline: head.deadline_at,
    tokens: fold.tokens,
    ...shownPrice(fold),
    budget: shownBudget(head.budget),
    ...storageOf(head, parts.max_run_bytes),
    last_seq: fold.seq,
  }
}

function isQueued({ state, paused }: RunFold, { queue }: Pick<Folded, 'queue'>): boolean {
  return queue !== undefined && state === 'running' && paused === undefined
}

function storageOf({ stored_bytes }: RunParts['head'], quota_bytes: number): Pick<RunAnswer['run'], 'storage'> {
  return stored_bytes === undefined ? {} : { storage: { stored_bytes, quota_bytes } }
}

function endOf({
  code,
  reason,
  final_status,
  row,
  goal,
}: RunFold): Pick<RunFold, 'code' | 'reason' | 'final_status' | 'row' | 'goal'> {
  return {
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    ...(final_status === undefined ? {} : { final_status }),
    ...(row === undefined ? {} : { row }),
    ...(goal === undefined ? {} : { goal }),
  }
}

function stateOf(dag: Dag, fold: RunFold): ShownState {
  if (fold.paused !== undefined) return 'paused'
  if (fold.queued === true) return 'pending'
  if (isWaitingForPeople(dag, fold)) return 'paused_approval'
  return isWaiting(dag, fold) ? 'waiting' : fold.state
}

function blockAnswer({ id, retry }: Block, fold: RunFold): BlockAnswer {
  const known = Object.hasOwn(fold.blocks, id) ? fold.blocks[id] : undefined
  if (known === undefined) return { ...UNSEEN, state: unseenState(fold), max_attempts: retry.max_attempts }
  const { tokens_in, tokens_out, usd_micros, outputs, ...block } = known
  const output_ref = outputs === undefined ? undefined : outputRef(outputs)
  const agent = agentCounts(known)
  return {
    ...block,
    max_attempts: retry.max_attempts,
    ...(outputs === undefined ? {} : { outputs }),
    ...(output_ref === undefined ? {} : { output_ref }),
    ...(agent === undefined ? {} : { agent }),
    tokens: tokens_in + tokens_out,
    usd: usdOf(usd_micros),
  }
}

const UNSEEN = { attempt: 0, epoch: 0, gates: [], tokens: 0, usd: null }

/** The end of the run cancels also the blocks no event ever named. */
function unseenState({ state }: RunFold): BlockFold['state'] {
  return state === 'running' ? 'pending' : 'cancelled'
}

/** Member by member: the item in the store also holds the task token, which never leaves it. */
function approvalAnswer(approval: ApprovalFold, dag: Dag, shown: ReadonlyMap<string, ApprovalItem>): ApprovalAnswer {
  const item = shown.get(approval.approval_id)
  const policy = dag.blocks.find(({ id }) => id === approval.block_id)?.approval
  const prompt = item?.prompt ?? policy?.prompt ?? ''
  return { ...approval, ...(item === undefined ? {} : questionDetails(item)), prompt, shown: item?.shown ?? {} }
}

function changesOf(meta: Meta, events: readonly RunEvent[]): Pick<RunAnswer['run'], 'changes'> {
  const changes = runChanges(meta, events)
  return changes === undefined ? {} : { changes }
}

function usdOf(micros: number | undefined): number | null {
  return micros === undefined ? null : micros / 1_000_000
}

/** The place of a run among linked runs, as GET run shows it. */
interface LineageView {
  /** The run it goes on from. */
  readonly continues?: string
  /** The run whose results it took over where definition and inputs were the same. */
  readonly retry_of?: string
  /** The first run of its lineage, when it is a linked run. */
  readonly root?: string
  /** Runs that retry it, and that go on from it, oldest first. */
  readonly retried_by?: readonly string[]
  readonly continued_by?: readonly string[]
  /** The run whose place it took, since somebody rejected what that one asked. */
  readonly iterates?: string
  /** The run whose goal it tries again, and the run that tries its own goal again. */
  readonly pivots?: string
  readonly pivoted_by?: string
  /** The run whose end or event fired the trigger that started it. */
  readonly follows?: string
  /** The linked run that comes after it: it was iterated, or tries its goal again by itself. */
  readonly next_run?: string
}

function viewLineage(
  { run_id, continues, retry_of, root, iterates, pivots, follows }: Meta,
  { next_run }: Pick<RunFold, 'next_run'>,
  lineage: readonly RunLink[],
): LineageView {
  const after = (kind: RunLink['kind']) =>
    lineage.filter((link) => link.from === run_id && link.kind === kind).map((link) => link.run_id)
  const [retries, cycles] = [after('retry'), after('continue')]
  const [pivoted_by] = after('pivot')
  return {
    ...(continues === undefined ? {} : { continues }),
    ...(retry_of === undefined ? {} : { retry_of: retry_of.run_id }),
    ...(root === undefined ? {} : { root }),
    ...(retries.length === 0 ? {} : { retried_by: retries }),
    ...(cycles.length === 0 ? {} : { continued_by: cycles }),
    ...(iterates === undefined ? {} : { iterates: iterates.run_id }),
    ...(pivots === undefined ? {} : { pivots: pivots.run_id }),
    ...(pivoted_by === undefined ? {} : { pivoted_by }),
    ...(follows === undefined ? {} : { follows: follows.run_id }),
    ...(next_run === undefined ? {} : { next_run }),
  }
}
