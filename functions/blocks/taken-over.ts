import { childOf } from '../../shared/approvals/binding.ts'
import { Fault } from '../../shared/errors.ts'
import { HANDLERS_BEYOND_PORTS } from '../../shared/handlers.ts'
import { isOverQuota, STORAGE_QUOTA } from '../storage.ts'
import type { BlockCall } from './block-call.ts'
import { type AttemptInputs, type EarlierResult, earlierResult } from './earlier-result.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { judgeProduced } from './judge-produced.ts'
import { withoutOutput } from './kept-result.ts'
import type { Produced } from './produced.ts'
import { readValues } from './read-outputs.ts'
import { takeBlockArtifacts } from './take-block-artifacts.ts'

/** Attempt and inputs of a block, or item, that is runnable and not yet dispatched. */
export interface OpenInputs extends AttemptInputs {
  readonly attempt: number
}

/**
 * In a retried run: the end of an attempt that a result of the earlier runs stands in for, its post-gates judged again;
 * undefined = the block does its work (docs/adr/0033 has the rules). Asked before the claim, and answered the same by
 * whoever asks: a person is not asked about a block that is taken over. After a bounce nothing is taken over, and nothing
 * of a child run that may ask: it is opened again, and takes over what its own decisions allow.
 * A judge that may not be asked for want of budget leaves its refusal in the meter: as elsewhere, that fails the block.
 */
export async function takenOver(call: BlockCall, open: OpenInputs): Promise<AttemptEnd | undefined> {
  if (call.meta.retry_of === undefined || call.epoch > 0 || beyond(call) === 'run') return undefined
  if (childOf(call.block, call.meta.children)?.asks === true) return undefined
  try {
    const found = await earlierResult(call, open)
    return found === undefined ? undefined : await judged(call, open, found)
  } catch (error) {
    if (!(error instanceof Fault) || error.name === 'Unavailable' || isOverQuota(error)) throw error
    const { run, block, world } = call
    world.log.error('an earlier result could not be taken over', { ...run, block_id: block.id, error: String(error) })
    return undefined
  }
}

async function judged(
  call: BlockCall,
  { attempt, values }: OpenInputs,
  found: EarlierResult,
): Promise<AttemptEnd | undefined> {
  const produced = await producedBy(call, found)
  if (produced === undefined) return undefined
  const end = await judgeProduced(call, attempt, values, produced, 0)
  // Work that is done instead would not fit either.
  if (end.failure !== undefined) return end.failure.code === STORAGE_QUOTA ? withoutOutput(end) : undefined
  const writes = beyond(call) === 'artifacts'
  const took = (writes || call.block.mode === 'ai') && (await takeBlockArtifacts(call, found, attempt))
  // An agent's files are its outputs: without an artifact of its name its ports still hold them.
  if (writes && !took) return undefined
  return { ...end, cached_from: found.run.run_id }
}

/** As it was made, at no cost. */
async function producedBy({ world, run }: BlockCall, found: EarlierResult): Promise<Produced | undefined> {
  const { outputs, made } = found.projection
  if (made === undefined) return undefined
  const free = { tokens_in: 0, tokens_out: 0, usd_micros: 0, note: `result of run ${found.run.run_id}` }
  return { values: await readValues(world, run.tenant, outputs ?? {}), problems: [], facts: { ...made, ...free } }
}

function beyond({ block }: BlockCall): 'artifacts' | 'run' | undefined {
  return block.mode === 'deterministic' ? HANDLERS_BEYOND_PORTS[block.handler] : undefined
}
