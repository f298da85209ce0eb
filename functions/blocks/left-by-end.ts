import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { originOf } from './origin-of.ts'
import { readOwnProjection } from './read-outputs.ts'

/** Where it failed nobody takes its outputs over: what they came of is left to the events. */
export function publishedBy({ output, stored, ask, failure }: AttemptEnd): Pick<BlockProjection, 'outputs' | 'made'> {
  const all = output === undefined ? (stored ?? {}) : { outputs: output.outputs, made: originOf(output) }
  if (failure === undefined || ask !== undefined) return all
  return all.outputs === undefined ? {} : { outputs: all.outputs }
}

/** What an attempt that goes on after an answer is still of: its items or child, and what the try before it was told. */
export async function heldBy({
  meter,
  ...call
}: BlockCall): Promise<Pick<BlockProjection, 'items' | 'child' | 'failure'>> {
  const { lane } = call
  const before = meter.claim ?? (lane === undefined ? undefined : await readOwnProjection({ meter, ...call }, lane))
  const { items, child, failure } = before ?? {}
  return {
    ...(items === undefined ? {} : { items }),
    ...(child === undefined ? {} : { child }),
    ...(failure === undefined ? {} : { failure }),
  }
}
