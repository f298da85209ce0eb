import { turnBlock } from '../../shared/agents/agent-blocks.ts'
import { isActing } from '../../shared/agents/agent-items.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { itemBlock } from '../../shared/runs/foreach.ts'
import { laneKey } from '../../shared/runs/lane.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { openCountedStorage } from '../record/storage-quota.ts'
import { openAgentItem } from './agents/agent-item.ts'
import { type BlockCall, readHead } from './block-call.ts'
import { openMeter } from './meter.ts'

/** What a machine says of the block it calls. */
interface BlockReference {
  readonly block: string
  readonly e?: number | undefined
  readonly item?: number | undefined
}

/** Reads the pinned document and the part of HEAD this block needs: its own lane and its upstreams'. */
export async function openBlockCall(
  world: World,
  run: RunKey,
  place: BlockReference,
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
  const storage = openCountedStorage(world, run, block.id)
  const stored = { world: storage.world, storage, run }
  const opened = { ...pinned, ...stored, block: callee(block, item), module, e, item, lane_key, meter, host }
  const call = await readHead(opened)
  return item !== undefined && isActing(block) ? openAgentItem(call, block) : call
}

function callee(block: Block, item: number | undefined): Block {
  if (item === undefined) return block
  if (block.foreach !== undefined) return itemBlock(block, block.foreach)
  if (isActing(block)) return turnBlock(block)
  throw new Fault('Bug', 'no_such_item', `Machine and document differ: block "${block.id}" has no items.`)
}
