import { at } from './columns.ts'
import type { Forest } from './forest.ts'

/** Its last pieces: whatever comes after all of them comes after the lane. */
export type Ends = number[]

/** A lane on the main lane's Parallel. */
export interface Lane {
  readonly first: number
  readonly ends: Ends
  /** How deep Parallels nest in it. */
  depth: number
  /** The lane it was moved into. */
  into: Lane | undefined
  /** The piece it was last counted for. */
  counted: number
}

/** Where pieces are: by piece, the lane it was in at first, and the list it is an end in now, if it is one. */
export interface LaneTable {
  readonly of: (Lane | undefined)[]
  readonly endIn: (Ends | undefined)[]
}

/** Enters the lane that begins with piece `first`, and all that is in it. */
export function readLane(forest: Forest, table: LaneTable, first: number): void {
  const { core, closing, held } = forest
  const lane: Lane = { first, ends: [], depth: 0, into: undefined, counted: -1 }
  const open: Part[] = [{ v: first, level: 0, closed: false }]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { v, level, closed } = part
    const behind = at(closing, v)
    table.of[v] = lane
    lane.depth = Math.max(lane.depth, level + (core.expressions[v]?.depth ?? 0))
    if (behind >= 0) open.push({ v: behind, level, closed })
    else if (held[v] === 0 && !closed) {
      lane.ends.push(v)
      table.endIn[v] = lane.ends
    }
    const inner = level + levelsBelow(forest, v)
    for (let k = at(forest.first, v); k >= 0; k = at(forest.next, k)) {
      open.push({ v: k, level: inner, closed: closed || behind >= 0 })
    }
  }
}

interface Part {
  readonly v: number
  readonly level: number
  readonly closed: boolean
}

/** One branch with nothing behind it is the same lane. */
export function levelsBelow({ held, closing }: Forest, v: number): number {
  return at(held, v) > 1 || at(closing, v) >= 0 ? 1 : 0
}

/** A piece that is one Parallel and nothing else gives its branches to a Parallel around it. */
export function lanesIn({ core, held, closing }: Forest, v: number): number {
  return held[v] === 0 && closing[v] === -1 ? at(core.widths, v) : 1
}
