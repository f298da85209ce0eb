import type { RunKey } from '../../shared/runs/run-store.ts'
import { type Pinned, readPinned } from '../runs/read-pinned.ts'
import type { BlockCall } from './block-call.ts'

/** A run that this one retries, or that one, and so on. */
export interface EarlierRun extends Pinned {
  readonly run: RunKey
}

/** Results are handed on from retry to retry, so the newest run mostly has what there is. */
const MOST_RUNS = 20

/**
 * The runs whose results a block of a retried run may take over, newest first. A retry that was told to begin again with
 * the block is the last one for it.
 */
export async function* earlierRuns({ world, run, meta, block }: BlockCall): AsyncGenerator<EarlierRun> {
  let link = meta.retry_of
  for (let runs = 0; link !== undefined && runs < MOST_RUNS; runs += 1) {
    if (link.again.includes(block.id)) return
    const earlier = { tenant: run.tenant, run_id: link.run_id }
    const pinned = await readPinned(world, earlier)
    yield { ...pinned, run: earlier }
    link = pinned.meta.retry_of
  }
}
