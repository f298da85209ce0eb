import type { Json } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import { costOf } from '../../shared/runs/event-cost.ts'
import type { CachedResult } from '../../shared/runs/run-items.ts'
import { STORAGE_QUOTA } from '../storage.ts'
import type { BlockCall } from './block-call.ts'
import { putBack } from './call-meter.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { judgeProduced } from './judge-produced.ts'
import type { Produced } from './produced.ts'
import { readValues } from './read-outputs.ts'

/** What an attempt asks the cache about. */
export interface CacheQuestion {
  readonly attempt: number
  readonly inputs_hash: string
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
}

/**
 * The end of an attempt that a kept result of the same definition and inputs stands in for, its post-gates judged again;
 * undefined = dispatch: there is none, it is too old, its objects are gone or a gate refuses it. What is being improved
 * (feedback, a later epoch) is never answered with what was there before.
 */
export async function fromKept(call: BlockCall, question: CacheQuestion): Promise<AttemptEnd | undefined> {
  const { world, run, block, epoch } = call
  const { attempt, inputs_hash, values, feedback } = question
  if (block.cache === undefined || epoch > 0 || feedback.length > 0) return undefined
  const kept = await world.runs.cached(run.tenant, block.hash, inputs_hash).catch((error: unknown) => {
    world.log.error('a kept result could not be read', { ...run, block_id: block.id, error: String(error) })
    return undefined
  })
  if (kept === undefined || world.clock.now() - Date.parse(kept.at) > block.cache.max_age_sec * 1_000) return undefined
  const produced = await producedBy(call, kept)
  if (produced === undefined) return undefined
  const end = await judgeProduced(call, attempt, values, produced, 0)
  if (end.failure === undefined) return { ...end, cached_from: kept.run_id }
  // Work that is done instead would not fit either.
  if (end.failure.code === STORAGE_QUOTA) return withoutOutput(end)
  // The verdicts are thrown away, what their judges used is not.
  for (const event of end.gate_events) putBack(call.meter, costOf(event))
  return undefined
}

/** What an earlier run paid for is that one's to tell. */
export function withoutOutput({ output: _, ...end }: AttemptEnd): AttemptEnd {
  return end
}

/** Keeps what a completed attempt published, unless it was a kept result itself: that one's age goes on. */
export async function keepResult(call: BlockCall, inputs_hash: string, end: AttemptEnd): Promise<void> {
  const { world, run, block } = call
  const { output, failure, cached_from } = end
  if (block.cache === undefined || output === undefined || failure !== undefined || cached_from !== undefined) return
  const at = new Date(world.clock.now()).toISOString()
  const result = { run_id: run.run_id, block_id: block.id, at, output }
  await world.runs.putCached(run.tenant, block.hash, inputs_hash, result)
}

/** As it was recorded, at no cost. */
async function producedBy({ world, run }: BlockCall, kept: CachedResult): Promise<Produced | undefined> {
  const { outputs, latency_ms: _, unpriced_tokens: _none, ...facts } = kept.output
  const free = { ...facts, tokens_in: 0, tokens_out: 0, usd_micros: 0, note: `kept result of run ${kept.run_id}` }
  try {
    return { values: await readValues(world, run.tenant, outputs), problems: [], facts: free }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return undefined
  }
}
