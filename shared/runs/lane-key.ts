/** A block, or one item of a foreach block. */
export interface LaneOwner {
  readonly block: number
  readonly item?: number
}

/** The lane of a block (`3`) or of one item of it (`3.12`) in HEAD (decisions, "HEAD, exactly"). */
export function laneKey({ block, item }: LaneOwner): string {
  return item === undefined ? String(block) : `${block}.${item}`
}

/** The inverse: undefined for lanes of other kinds (`run`, `a3`, `m0`). */
export function laneOwner(lane: string): LaneOwner | undefined {
  const [, block, item] = /^(\d+)(?:\.(\d+))?$/.exec(lane) ?? []
  if (block === undefined) return undefined
  return { block: Number(block), ...(item === undefined ? {} : { item: Number(item) }) }
}

/** In the order of the document, items after their block. */
export function byLane(a: string, b: string): number {
  const [left, right] = [laneOwner(a), laneOwner(b)]
  return (left?.block ?? -1) - (right?.block ?? -1) || (left?.item ?? -1) - (right?.item ?? -1)
}
