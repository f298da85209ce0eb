import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { recoverProjection } from './recover-projection.ts'

/**
 * Projections of items of a foreach block, by item, at least as new as their lanes (item -> ordinal in HEAD): one that
 * is behind its lane, or on its way still, is made again from the events and written again.
 */
export async function freshItems(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  block: number,
  lanes: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, BlockProjection>> {
  if (lanes.size === 0) return new Map()
  const stored = await world.runs.itemProjections(run, block, [...lanes.keys()])
  const fresh = new Map(stored.flatMap((one) => (one.item === undefined ? [] : [[one.item, one] as const])))
  for (const [item, lane] of lanes) {
    const seen = fresh.get(item)
    if (seen !== undefined && seen.ordinal >= lane) continue
    const recovered = await recoverProjection(world, run, { block, item }, lane)
    await world.runs.putProjection(run, recovered)
    fresh.set(item, recovered)
  }
  return fresh
}
