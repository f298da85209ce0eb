import { blockLane } from '../../shared/runs/block-lane.ts'
import { childRunId } from '../../shared/runs/child-run-id.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'
import { type EarlierRun, earlierRuns } from './earlier-runs.ts'

/**
 * What a child run of a retried run takes results over from: the newest child its block had in the runs before, if it
 * has ended. None where the retry was told to begin again with this block, or after a bounce.
 */
export async function earlierChild(call: BlockCall): Promise<Pick<Meta, 'retry_of'>> {
  if (call.epoch > 0) return {}
  for await (const earlier of earlierRuns(call)) {
    const child = await childIn(call, earlier)
    const head = child === undefined ? undefined : await call.world.runs.head(child, [])
    if (child !== undefined && head !== undefined && head.state !== 'running') {
      return { retry_of: { run_id: child.run_id, again: [] } }
    }
  }
  return {}
}

/** The id its newest attempt's child has, whether it came to that or not. */
async function childIn({ world, block }: BlockCall, earlier: EarlierRun): Promise<RunKey | undefined> {
  const { run, index } = earlier
  const at = index.get(block.id)
  const head = at === undefined ? undefined : await world.runs.head(run, [String(at)])
  const lane = head === undefined ? undefined : blockLane(earlier, head, block.id)
  if (at === undefined || lane === undefined) return undefined
  const { epoch, attempt } = readOrdinal(lane)
  return { tenant: run.tenant, run_id: childRunId(run.tenant, { run_id: run.run_id, block: at, epoch, attempt }) }
}
