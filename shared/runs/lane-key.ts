/** A block, or one item of a foreach block. */
export interface LaneOwner {
  readonly block: number
  readonly item?: number
}

/** The lane of a block (`3`) or of one item of it (`3.12`) in HEAD (docs/architecture.md, "Lanes and ordinals"). */
export function laneKey({ block, item }: LaneOwner): string {
  return item === undefined ? String(block) : `${block}.${item}`
}

/** The lane of a bounce module (`m0`): it moves whenever the module is sent back. */
export function moduleLane({ key }: { readonly key: number }): string {
  return `m${key}`
}

/** The inverse of `laneKey`: undefined for lanes of other kinds (`run`, `a3`, `m0`). */
export function laneOwner(lane: string): LaneOwner | undefined {
  const [, block, item] = /^(\d+)(?:\.(\d+))?$/.exec(lane) ?? []
  if (block === undefined) return undefined
  return { block: Number(block), ...(item === undefined ? {} : { item: Number(item) }) }
}
