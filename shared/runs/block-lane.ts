import type { BounceModule } from '../dag/bounce-modules.ts'
import type { Head } from './head.ts'
import { type Outcome, readOrdinal } from './ordinal.ts'

/** Where the blocks of a document stand in HEAD: their lanes by index, and the bounce modules some of them are in. */
export interface BlockPlaces {
  readonly index: ReadonlyMap<string, number>
  readonly moduleOf: ReadonlyMap<string, BounceModule>
}

/** Epoch a block is in, as HEAD says: the greatest in which it was reset; 0 = it never was. */
export function blockEpoch({ moduleOf, index }: BlockPlaces, head: Pick<Head, 'modules'>, id: string): number {
  const module = moduleOf.get(id)
  const fired = module === undefined ? undefined : head.modules[String(module.key)]
  if (module === undefined || fired === undefined) return 0
  const resets = module.rules.filter(({ hull }) => hull.includes(id))
  const also = fired.also?.[String(index.get(id))] ?? 0
  return Math.max(also, ...resets.map(({ key }) => fired.rules[key]?.epoch ?? 0))
}

/** The ordinal of a block in its own epoch; undefined before its first event there. */
export function blockLane(places: BlockPlaces, head: Pick<Head, 'lanes' | 'modules'>, id: string): number | undefined {
  const lane = head.lanes[String(places.index.get(id))]
  return lane === undefined || readOrdinal(lane).epoch < blockEpoch(places, head, id) ? undefined : lane
}

/** How a block ended in its own epoch; undefined while it has not. */
export function blockOutcome(
  places: BlockPlaces,
  head: Pick<Head, 'lanes' | 'modules'>,
  id: string,
): Outcome | undefined {
  return readOrdinal(blockLane(places, head, id) ?? 0).outcome
}
