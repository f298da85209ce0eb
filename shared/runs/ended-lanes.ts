import { type LaneOwner, laneKey } from './lane-key.ts'

/** The lanes an append ends: the block's, or one item's; with `items`, those of its first so many items too. */
export function endedLanes({ items = 0, ...owner }: LaneOwner & { readonly items?: number }): readonly string[] {
  const { block } = owner
  return [laneKey(owner), ...Array.from({ length: items }, (_, item) => laneKey({ block, item }))]
}
