import { laneOwner } from '../../../shared/runs/lane-key.ts'

/** Where HEAD keeps a lane: `lanes.<lane>`; of a foreach item `items.<block>.<i>`. */
export function lanePath(lane: string): readonly string[] {
  const { block, item } = laneOwner(lane) ?? {}
  return block === undefined || item === undefined ? ['lanes', lane] : [...itemsPath(block), String(item)]
}

/** The map of a block's item lanes: there from `open_items` to `drop_items`. */
export function itemsPath(block: number): readonly string[] {
  return ['items', String(block)]
}
