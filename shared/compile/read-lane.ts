import type { Forest } from './forest.ts'
import { at } from './zeros.ts'

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
  /** Pieces still to look at; for each, how many Parallels are around it, and 1 if one of them closes. */
  readonly open: number[]
  readonly levels: number[]
  readonly closed: number[]
}

/** Enters the lane that begins with piece `start`, and all that is in it. */
export function readLane(forest: Forest, table: LaneTable, start: number): void {
  const { core, closing, held } = forest
  const { open, levels, closed } = table
  const lane: Lane = { first: start, ends: [], depth: 0, into: undefined, counted: -1 }
  let opened = openPiece(table, 0, start, 0, 0)
  while (opened > 0) {
    const v = at(open, --opened)
    const level = at(levels, opened)
    const isClosed = at(closed, opened)
    const behind = at(closing, v)
    table.of[v] = lane
    lane.depth = Math.max(lane.depth, level + (core.expressions[v]?.depth ?? 0))
    if (behind >= 0) opened = openPiece(table, opened, behind, level, isClosed)
    else if (held[v] === 0 && isClosed === 0) enterEnd(table, lane, v)
    const inner = level + levelsBelow(forest, v)
    for (let k = at(forest.first, v); k >= 0; k = at(forest.next, k)) {
      opened = openPiece(table, opened, k, inner, behind >= 0 ? 1 : isClosed)
    }
  }
}

function openPiece({ open, levels, closed }: LaneTable, opened: number, v: number, level: number, by: number): number {
  open[opened] = v
  levels[opened] = level
  closed[opened] = by
  return opened + 1
}

function enterEnd(table: LaneTable, { ends }: Lane, v: number): void {
  ends.push(v)
  table.endIn[v] = ends
}

/** One branch with nothing behind it is the same lane. */
export function levelsBelow({ held, closing }: Forest, v: number): number {
  return at(held, v) > 1 || at(closing, v) >= 0 ? 1 : 0
}

/** A piece that is one Parallel and nothing else gives its branches to a Parallel around it. */
export function lanesIn({ core, held, closing }: Forest, v: number): number {
  return held[v] === 0 && closing[v] === -1 ? at(core.widths, v) : 1
}
