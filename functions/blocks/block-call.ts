import type { Json } from '../../shared/canonical.ts'
import type { BounceModule } from '../../shared/dag/bounce-modules.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { blockEpoch } from '../../shared/runs/block-lane.ts'
import { itemBlock } from '../../shared/runs/foreach-items.ts'
import type { Head } from '../../shared/runs/head.ts'
import { laneKey, moduleLane } from '../../shared/runs/lane-key.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type Pinned, readPinned } from '../runs/read-pinned.ts'
import { openStorage, type Storage } from '../storage.ts'
import { type CallMeter, openMeter } from './call-meter.ts'
import type { OpenAsk } from './open-ask.ts'
import type { Answer } from './read-answer.ts'
import { askedLanes } from './while-unasked.ts'

/** One invocation's view of its block: what it is pinned to and what HEAD says right now. */
export interface BlockCall extends Pinned {
  /** Its puts are counted (storage.ts). */
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
  /** The attempt goes on: a person said yes to what stood in its way. */
  readonly resumed?: Resumed
}

export interface Resumed {
  readonly ask: OpenAsk
  readonly yes: Extract<Answer, { kind: 'yes' }>
}

/** What a machine says of the block it calls. */
export interface BlockPlace {
  readonly block: string
  readonly e?: number | undefined
  readonly item?: number | undefined
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

/** Reads the pinned document and the part of HEAD this block needs: its own lane and its upstreams'. */
export async function openBlockCall(
  world: World,
  run: RunKey,
  place: BlockPlace,
  host?: AbortSignal,
): Promise<BlockCall> {
  const pinned = await readPinned(world, run)
  const block = pinned.dag.blocks[pinned.index.get(place.block) ?? -1]
  if (block === undefined) {
    throw new Fault(
      'Bug',
      'unknown_block',
      `Machine and document differ: no block "${place.block}" in DAG "${pinned.dag.name}".`,
    )
  }
  const { e, item } = place
  const lane_key = laneKey({ block: block.index, ...(item === undefined ? {} : { item }) })
  const module = pinned.moduleOf.get(block.id)
  const meter = openMeter()
  const storage = openStorage(world, run, block.id)
  const stored = { world: storage.world, storage, run }
  return readHead({ ...pinned, ...stored, block: callee(block, item), module, e, item, lane_key, meter, host })
}

function callee(block: Block, item: number | undefined): Block {
  if (item === undefined) return block
  if (block.foreach !== undefined) return itemBlock(block, block.foreach)
  throw new Fault('Bug', 'no_such_item', `Machine and document differ: block "${block.id}" has no items.`)
}

/** The same call as HEAD says now. */
export async function readHead(
  call: Omit<BlockCall, 'head' | 'epoch' | 'raw_lane' | 'lane' | 'resumed'>,
): Promise<BlockCall> {
  const { world, run, block, lane_key } = call
  const blocks = [block.id, ...block.upstream, ...(call.module?.rules ?? []).map((rule) => rule.block)]
  const modules = call.module === undefined ? [] : [moduleLane(call.module)]
  const lanes = new Set([lane_key, ...blocks.map((id) => String(call.index.get(id))), ...modules, ...askedLanes(call)])
  const head = await world.runs.head(run, [...lanes])
  if (head === undefined) throw new Fault('Bug', 'head_missing', `Run "${run.run_id}" has META but no HEAD.`)
  call.storage.seen(head)
  const epoch = blockEpoch(call, head, block.id)
  const raw_lane = head.lanes[lane_key] ?? null
  const lane = raw_lane === null || readOrdinal(raw_lane).epoch < epoch ? undefined : raw_lane
  return { ...call, head, epoch, raw_lane, lane }
}
