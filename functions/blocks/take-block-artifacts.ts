import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { ArtifactItem } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import type { EarlierResult } from './earlier-result.ts'

/**
 * Gives this run the artifacts that the completed attempt of a block wrote in an earlier one; what it wrote before that,
 * and was refused or sent back for, stays behind. False where it has none there, since another block wrote over them,
 * and for a fan-out, whose items write again: that costs nothing. They are stored once more: an object lives from when it
 * was last written.
 */
export async function takeBlockArtifacts(call: BlockCall, found: EarlierResult, attempt: number): Promise<boolean> {
  const { world, storage, run, block, item } = call
  if (item !== undefined || block.foreach !== undefined) return false
  const { run: from, projection } = found
  const { epoch } = readOrdinal(projection.ordinal)
  const wrote = (one: ArtifactItem) => one.attempt === projection.attempt && (one.epoch ?? 0) === epoch
  const own = (await world.runs.artifacts(from)).filter((one) => one.block_id === block.id && wrote(one))
  for (const { epoch: _, ...one } of own) {
    await storage.bounded.objects.put(run.tenant, await world.objects.get(run.tenant, one.ref))
    await world.runs.putArtifact(run, { ...one, attempt, from_run: one.from_run ?? from.run_id })
  }
  return own.length > 0
}
