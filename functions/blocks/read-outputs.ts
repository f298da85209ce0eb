import type { Json } from '../../shared/canonical.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import type { BlockCall } from './block-call.ts'
import { freshItems } from './fresh-items.ts'
import { recoverProjection } from './recover-projection.ts'

/**
 * Projections of blocks, at least as new as their lanes: a crash between the HEAD append and B# leaves the
 * projection behind, and then the events decide (they are the truth) and the projection is written again.
 */
export async function readProjections(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  lanes: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, BlockProjection>> {
  if (lanes.size === 0) return new Map()
  const found = new Map((await world.runs.projections(run, [...lanes.keys()])).map((p) => [p.block, p]))
  for (const [block, lane] of lanes) {
    const seen = found.get(block)
    if (seen !== undefined && seen.ordinal >= lane) continue
    const recovered = await recoverProjection(world, run, { block }, lane)
    await world.runs.putProjection(run, recovered)
    found.set(block, recovered)
  }
  return found
}

/** The projection of the lane a call is about, at least as new as `lane`. */
export async function readOwnProjection(call: BlockCall, lane: number): Promise<BlockProjection | undefined> {
  const { world, run, block, item } = call
  if (item === undefined) return (await readProjections(world, run, new Map([[block.index, lane]]))).get(block.index)
  return (await freshItems(world, run, block.index, new Map([[item, lane]]))).get(item)
}

/** The value of each port, parsed from its stored JSON text. */
export async function readValues(
  world: Pick<World, 'objects'>,
  tenant: string,
  stored: Readonly<Record<string, StoredValue>>,
): Promise<Readonly<Record<string, Json>>> {
  const values: Record<string, Json> = {}
  for (const [port, { ref }] of Object.entries(stored)) {
    values[port] = JSON.parse(Buffer.from(await world.objects.get(tenant, ref)).toString('utf8')) as Json
  }
  return values
}
