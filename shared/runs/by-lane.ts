import { laneOwner } from './lane-key.ts'

/** In the order of the document, items after their block. */
export function byLane(a: string, b: string): number {
  const [left, right] = [laneOwner(a), laneOwner(b)]
  return (left?.block ?? -1) - (right?.block ?? -1) || (left?.item ?? -1) - (right?.item ?? -1)
}
