import { type ActingItem, isActing, type ToolCall } from '../../shared/agents/agent-items.ts'
import type { BounceModule } from '../../shared/dag/bounce-modules.ts'
import type { Block, Foreach } from '../../shared/dag/dag.ts'
import type { EventData, RunEvent } from '../../shared/runs/event.ts'
import { blockEpoch, blockOutcome, type Head, type HeadApproval } from '../../shared/runs/head.ts'
import { approvalId, approvalLane, childRunId } from '../../shared/runs/ids.ts'
import {
  hasOpenQuestion,
  type LaneOwner,
  laneKey,
  moduleLane,
  ordinal,
  PHASE,
  readOrdinal,
  workingLeg,
} from '../../shared/runs/lane.ts'
import { PAUSE_LANE } from '../../shared/runs/pause.ts'
import type { Append, LaneStands, RunKey } from '../../shared/runs/run-store.ts'
import type { AskedNote, BlockProjection } from '../../shared/runs/run-store-items.ts'
import { upstreamSkipReason } from '../../shared/runs/skip-rules.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import type { Pinned } from '../record/pinned-run.ts'
import type { Storage } from '../record/storage-quota.ts'
import { goneFault } from '../require-run.ts'
import type { CallMeter } from './meter.ts'

/** One invocation's view of its block: what it is pinned to and what HEAD says right now. */
export interface BlockCall extends Pinned {
  /** Its puts are counted (storage-quota.ts). */
  readonly world: World
  readonly storage: Storage
  readonly run: RunKey
  readonly block: Block
  readonly head: Head
  readonly module: BounceModule | undefined
  /** Epoch of the module in which the machine made this call; undefined outside modules. */
  readonly e: number | undefined
  readonly item: number | undefined
  /** The block's own epoch: it is behind the module's when no bounce reset this block. */
  readonly epoch: number
  readonly lane_key: string
  /** The lane as HEAD has it, which guards compare: of an earlier epoch, or null before the first event. */
  readonly raw_lane: number | null
  /** The lane in this epoch; undefined before its first event there. */
  readonly lane: number | undefined
  /** What its calls of providers reserve and use. */
  readonly meter: CallMeter
  /** The host's own signal: this process gives up. */
  readonly host?: AbortSignal | undefined
  /** Of an item of an agent that acts: which turn or call it is. `block` is made of the document's for it. */
  readonly acting?: ActingItem
  /** The attempt goes on: a person said yes to what stood in its way. */
  readonly resumed?: Resumed
}

export interface Resumed {
  readonly ask: OpenQuestion
  readonly yes: Extract<PersonAnswer, { kind: 'yes' }>
}

/** What the attempt works with, fixed at its claim. */
export interface BlockInputs {
  readonly values: Readonly<Record<string, Json>>
  readonly problems: readonly string[]
  readonly context_version: number
  /** The decisions of blocks before it that it stands on. */
  readonly decisions?: readonly DecisionUsed[]
  /** The same as an object, where there are more than an event has room for. */
  readonly decisions_ref?: string
  /** Why none of them covers what it would do now. */
  readonly stale?: string
}

/** A decision and what it was bound to. */
export interface DecisionUsed {
  readonly approval_id: string
  readonly digest: string
}

/** The same call as HEAD says now. */
export async function readHead(
  call: Omit<BlockCall, 'head' | 'epoch' | 'raw_lane' | 'lane' | 'resumed'>,
): Promise<BlockCall> {
  const { world, run, block, lane_key } = call
  const blocks = [block.id, ...block.upstream, ...(call.module?.rules ?? []).map((rule) => rule.block)]
  const modules = call.module === undefined ? [] : [moduleLane(call.module)]
  const others = [...modules, ...askedLanes(call), PAUSE_LANE]
  const lanes = new Set([lane_key, ...blocks.map((id) => String(call.index.get(id))), ...others])
  const head = await world.runs.head(run, [...lanes])
  if (head === undefined) throw await goneFault(world, run)
  call.storage.seen(head)
  const epoch = blockEpoch(call, head, block.id)
  const raw_lane = head.lanes[lane_key] ?? null
  const lane = raw_lane === null || readOrdinal(raw_lane).epoch < epoch ? undefined : raw_lane
  return { ...call, head, epoch, raw_lane, lane }
}

/** Whose attempts a call is about: the block's, or one item's. */
export function laneOwnerOf({ block, item }: Pick<BlockCall, 'block' | 'item'>): LaneOwner {
  return { block: block.index, ...(item === undefined ? {} : { item }) }
}

/** What every event of a call begins with. */
export function eventBase({ block, item }: Pick<BlockCall, 'block' | 'item'>): {
  readonly block_id: string
  readonly item?: number
} {
  return { block_id: block.id, ...(item === undefined ? {} : { item }) }
}

/** What every append of a call begins with: one of an item also asks that its block still goes on in this attempt. */
export function appendBase(call: BlockCall): Pick<Append, 'run' | 'lane' | 'item_of'> {
  const { run, block, item, epoch, head } = call
  const lane = laneKey(laneOwnerOf(call))
  if (item === undefined) return { run, lane }
  const { attempt, leg } = readOrdinal(head.lanes[String(block.index)] ?? 0)
  const below = ordinal({ epoch, attempt, leg, phase: PHASE.completed })
  return { run, lane, item_of: { block: block.index, below } }
}

/** The fan-out of a block, or of the block this is an item of. */
export function foreachOf({ dag, block }: Pick<BlockCall, 'dag' | 'block'>): Foreach | undefined {
  return dag.blocks[block.index]?.foreach
}

/**
 * Of an item: how many of all may fail before no further try of any is dispatched; undefined = all run, however many do
 * (docs/adr/0069).
 */
export function mostFailedItems(call: Pick<BlockCall, 'dag' | 'block' | 'item'>): number | undefined {
  const foreach = call.item === undefined ? undefined : foreachOf(call)
  return foreach?.fail_fast === true ? foreach.tolerate : undefined
}

interface EndStep {
  readonly leg: number
  /** Phase from which on the events of its end may take several appends. */
  readonly first: number
}

/** Where the end of an attempt is written: in the leg it was claimed or resumed in, or the one an answer begins. */
export function endStep({ meter, lane }: BlockCall, attempt: number): EndStep {
  const from = meter.claim?.ordinal ?? lane ?? 0
  if (readOrdinal(from).attempt !== attempt) return { leg: 0, first: PHASE.gates }
  return { leg: workingLeg(from), first: hasOpenQuestion(from) ? nextAnsweredPhase(from) : PHASE.gates }
}

/** What a crash left out is told in further steps. */
export function nextAnsweredPhase(lane: number): number {
  const { phase } = readOrdinal(lane)
  return phase === PHASE.asked ? PHASE.answered : phase + 1
}

/**
 * What the append that ends an attempt frees: its slot among what runs, and the lanes of a foreach block's items. An agent
 * that acts goes on from its turns when it is tried again (`goes_on`): they leave with its last attempt.
 */
export function freedByEnd(
  call: Pick<BlockCall, 'block' | 'item'>,
  { goes_on = false }: { readonly goes_on?: boolean } = {},
): Pick<Append, 'end' | 'drop_items'> {
  const { block, item } = call
  const hasItems = block.foreach !== undefined || (isActing(block) && !goes_on)
  const items = hasItems && item === undefined ? { drop_items: { block: block.index } } : {}
  return { end: laneOwnerOf(call), ...items }
}

/**
 * What stands as long as nobody else asks a person about the dispatch of this block: what its gates said may differ from
 * call to call, and who was asked is not passed over. Empty where nobody is to be asked, or somebody was.
 */
export function unaskedCondition({ run, block, item, head, epoch }: BlockCall): readonly LaneStands[] {
  if (block.approval === undefined || item !== undefined) return []
  const id = approvalId(run.run_id, block.index, epoch)
  if (head.approvals[id] !== undefined) return []
  const lane = approvalLane(id, block.index)
  return [{ lane, is: head.lanes[lane] ?? null }]
}

/** Lanes of HEAD that this needs to know. */
function askedLanes({ run, block, item }: Pick<BlockCall, 'run' | 'block' | 'item'>): readonly string[] {
  if (block.approval === undefined || item !== undefined) return []
  return [approvalLane(approvalId(run.run_id, block.index, 0), block.index)]
}

/**
 * Whether the machine called in another pass of the module than the one it is in (none = the first): such a call changes
 * nothing.
 */
export function isStale({ module, e = 0, head }: BlockCall): boolean {
  return module !== undefined && e !== (head.modules[String(module.key)]?.epoch ?? 0)
}

/** Somebody stopped this block in an earlier pass of its bounce module. */
export function wasStoppedInEarlierPass({ lane, raw_lane }: BlockCall): boolean {
  return lane === undefined && raw_lane !== null && readOrdinal(raw_lane).outcome === 'cancelled'
}

/** Why a block whose upstreams have ended is skipped, as HEAD says; undefined when it may go on. */
export function whySkipped(call: BlockCall): EventData<'block:skipped'> | undefined {
  return upstreamSkipReason(call.block, (id) => blockOutcome(call, call.head, id))
}

/**
 * What makes one call of a provider this call: `<run>/<lane>/<epoch>/<attempt>[.<leg>]/<repair>`. After a question in the
 * middle of the attempt its calls are others.
 */
export function callKey({ run, lane_key, epoch, lane }: BlockCall, attempt: number, repair: number): string {
  const leg = lane !== undefined && readOrdinal(lane).attempt === attempt ? workingLeg(lane) : 0
  return `${run.run_id}/${lane_key}/${epoch}/${attempt}${leg === 0 ? '' : `.${leg}`}/${repair}`
}

/**
 * The key that a step, or what AWS calls, is told: of a call of an agent the call's own, else that of the try. An attempt
 * that was lost is no try (`untried` of those before this one), so what may have done its work knows it again.
 */
export function toldKey(call: BlockCall, attempt: number, untried = 0): string {
  const { acting, run, lane_key, epoch } = call
  if (acting?.call !== undefined) return toolKey(call, acting.call)
  return `${run.run_id}/${lane_key}/${epoch}/${attempt - untried}/0`
}

/**
 * By what a service may know a call of an agent: the same however often it is made, as long as its arguments are. A place that died
 * may have made it, and another attempt is still the same call.
 */
export function toolKey({ run, lane_key, epoch }: BlockCall, { args }: ToolCall): string {
  return `${run.run_id}/${lane_key}/${epoch}/${sha256(canonicalJson(args)).slice(0, 16)}`
}

/** The child run of one attempt of this block, whether it is there yet or not. */
export function childRunKey({ run, block, item, epoch }: BlockCall, attempt: number): RunKey {
  const { tenant, run_id } = run
  return { tenant, run_id: childRunId(tenant, { run_id, block: block.index, item, epoch, attempt }) }
}

/**
 * Whether this attempt was claimed with its child. One claimed without was over before that, by its inputs or its
 * pre-gates, or took a result over; who claimed it records that end, and what is found later may be another.
 */
export function wasClaimedWithChild(call: BlockCall, attempt: number): boolean {
  return call.head.children[call.lane_key] === childRunKey(call, attempt).run_id
}

/** An attempt a person was asked about, as it was left. */
export interface OpenQuestion extends AskedNote {
  readonly attempt: number
  readonly projection: BlockProjection
  /** What happened in this attempt so far, in order. */
  readonly events: readonly RunEvent[]
}

/** What a person made of a question in the middle of an attempt. */
export type PersonAnswer =
  | { readonly kind: 'yes'; readonly approval_id: string; readonly approval: HeadApproval; readonly words: string }
  | { readonly kind: 'no'; readonly code: 'ask_rejected' | 'ask_expired' | 'agent_stopped'; readonly reason: string }

/** Bytes the run may still store. Fault LimitExceeded storage_quota: none. */
export async function roomOf({ storage, world, head }: BlockCall): Promise<number> {
  await storage.requireRoom(1)
  return Math.max(0, world.settings.safety.max_run_bytes - (head.stored_bytes ?? 0))
}
