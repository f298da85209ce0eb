import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'

/**
 * Gives this run the artifacts a block wrote in an earlier one. False where it has none there, since another block wrote
 * over them, and for a fan-out, whose items are not told apart by them: then the block writes again, which costs nothing.
 * They are stored once more: an object lives from when it was last written.
 */
export async function takeBlockArtifacts(call: BlockCall, from: RunKey, attempt: number): Promise<boolean> {
  const { world, run, block, item } = call
  if (item !== undefined || block.foreach !== undefined) return false
  // Attempt 0: it came with the run that one continued.
  const own = (await world.runs.artifacts(from)).filter((one) => one.block_id === block.id && one.attempt > 0)
  for (const { epoch: _, ...one } of own) {
    await world.objects.put(run.tenant, await world.objects.get(run.tenant, one.ref))
    await world.runs.putArtifact(run, { ...one, attempt, from_run: one.from_run ?? from.run_id })
  }
  return own.length > 0
}
