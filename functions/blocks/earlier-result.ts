import type { Json } from '../../shared/canonical.ts'
import { blockEpoch, blockLane } from '../../shared/runs/block-lane.ts'
import type { Head } from '../../shared/runs/head.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { isApprovedEarlier } from '../approvals/is-approved-earlier.ts'
import type { BlockCall } from './block-call.ts'
import { type EarlierRun, earlierRuns } from './earlier-runs.ts'
import { readProjections } from './read-outputs.ts'
import { recoverProjection } from './recover-projection.ts'

/** A completed result of an earlier run. */
export interface EarlierResult {
  readonly run: RunKey
  readonly projection: BlockProjection
}

/** What an attempt is about to work with. */
export interface AttemptInputs {
  readonly inputs_hash: string
  readonly values: Readonly<Record<string, Json>>
}

/** An ended run of the chain, and where the block stands in it. */
export interface EarlierBlock extends EarlierRun {
  readonly head: Head
  /** Position of the block in that run's document. */
  readonly at: number
}

/**
 * The result that stands in for this attempt: of the newest run in the chain of retries in which the same definition
 * completed with the same inputs, and a person approved the same question where there is one.
 */
export async function earlierResult(call: BlockCall, inputs: AttemptInputs): Promise<EarlierResult | undefined> {
  for await (const earlier of earlierRuns(call)) {
    const projection = await completedIn(call, earlier, inputs)
    if (projection !== undefined) return { run: earlier.run, projection }
  }
  return undefined
}

async function completedIn(
  call: BlockCall,
  before: EarlierRun,
  inputs: AttemptInputs,
): Promise<BlockProjection | undefined> {
  const { world, block, item } = call
  const at = before.index.get(block.id)
  if (at === undefined || before.dag.blocks[at]?.hash !== block.hash) return undefined
  const head = await world.runs.head(before.run, [String(at)])
  if (head === undefined || head.state === 'running') return undefined
  const earlier = { ...before, head, at }
  const projection = await (item === undefined ? ofBlock(call, earlier) : ofItem(call, earlier, item))
  if (projection?.state !== 'completed' || projection.inputs_hash !== inputs.inputs_hash) return undefined
  if (item !== undefined || block.approval === undefined) return projection
  return (await isApprovedEarlier(call, earlier, inputs.values)) ? projection : undefined
}

/** In its newest epoch: what a bounce sent back was improved since. */
async function ofBlock({ world, block }: BlockCall, earlier: EarlierBlock): Promise<BlockProjection | undefined> {
  const { run, at, head } = earlier
  const lane = blockLane(earlier, head, block.id)
  if (lane === undefined || readOrdinal(lane).outcome !== 'completed') return undefined
  return (await readProjections(world, run, new Map([[at, lane]]))).get(at)
}

/** At the same place in the list. Its lane left HEAD with its block's end: a record that lags is made again. */
async function ofItem(
  { world, block }: BlockCall,
  earlier: EarlierBlock,
  item: number,
): Promise<BlockProjection | undefined> {
  const { run, at, head } = earlier
  const [seen] = await world.runs.itemProjections(run, at, [item])
  if (seen === undefined || readOrdinal(seen.ordinal).epoch !== blockEpoch(earlier, head, block.id)) return undefined
  return seen.state === 'running' ? recoverProjection(world, run, { block: at, item }, seen.ordinal) : seen
}
