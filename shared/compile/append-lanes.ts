import { hasBit } from './bit-rows.ts'
import { attach, type Forest } from './forest.ts'
import { mainLane } from './host-roots.ts'
import { type Lane, type LaneTable, readLane } from './read-lane.ts'
import { itemsOf, rowSize } from './rows.ts'
import { MAX_DEPTH } from './series-parallel.ts'
import { at, zeros } from './zeros.ts'

export interface Lanes extends LaneTable {
  readonly forest: Forest
  /** By piece: the lane's first piece it was last found for. */
  readonly foundFor: number[]
}

/**
 * Moves lanes that begin with a join behind those they wait for. A lane that comes after all of these needs no join:
 * one is simply followed, several become a Parallel, which costs less. A lane that comes after one end of another one
 * follows there: its join has a signal less.
 */
export function appendLanes(lanes: Lanes): void {
  const { before, size } = lanes.forest.core
  startLanes(lanes)
  readLanes(lanes)
  for (let v = 1; v < size; v++) {
    const lane = lanes.of[v]
    if (lane?.first !== v || rowSize(before, v) < 2) continue
    const found = placesBefore(lanes, v)
    if (!closeLanes(lanes, lane, found)) followEnd(lanes, lane, found)
  }
}

export function laneTable(forest: Forest): Lanes {
  const { size } = forest.core
  return {
    forest,
    of: new Array(size),
    endIn: new Array(size),
    open: zeros(size),
    levels: zeros(size),
    closed: zeros(size),
    foundFor: zeros(size),
  }
}

function startLanes({ of, endIn, foundFor }: Lanes): void {
  for (let v = 0; v < foundFor.length; v++) {
    of[v] = undefined
    endIn[v] = undefined
    foundFor[v] = 0
  }
}

function readLanes(lanes: Lanes): void {
  const { forest } = lanes
  for (const host of mainLane(forest)) {
    for (let k = at(forest.first, host); k >= 0; k = at(forest.next, k)) readLane(forest, lanes, k)
  }
}

/** The predecessors that have a place, for an empty piece without one those before it; the host needs no mention. */
function placesBefore({ forest, foundFor }: Lanes, v: number): readonly number[] {
  const { parent, core } = forest
  const host = parent[v]
  const places: number[] = []
  const open = itemsOf(core.before, v)
  for (let p = open.pop(); p !== undefined; p = open.pop()) {
    if (p === host || foundFor[p] === v) continue
    foundFor[p] = v
    if (p === 0 || parent[p] !== -1) places.push(p)
    else open.push(...itemsOf(core.before, p))
  }
  return places
}

function closeLanes(lanes: Lanes, lane: Lane, found: readonly number[]): boolean {
  const { forest } = lanes
  const v = lane.first
  const host = at(forest.parent, v)
  const closed = lanesToClose(lanes, found, host, v)
  const [only] = closed
  const depth = closed.reduce((most, other) => Math.max(most, other.depth), 0)
  if (only === undefined || (closed.length > 1 && depth >= MAX_DEPTH)) return false
  const first = closed.length > 1 ? around(forest, host, closed) : only.first
  attach(forest, lastOf(forest, first), v, 'closing')
  const level = closed.length > 1 ? 1 : 0
  const joined = { first, ends: lane.ends, depth: Math.max(lane.depth, depth + level), into: undefined, counted: -1 }
  lane.into = joined
  for (const part of closed) part.into = joined
  return true
}

/** The lanes of those found, if all are in one and each is beside piece v and comes before v as a whole. */
function lanesToClose(lanes: Lanes, found: readonly number[], host: number, v: number): readonly Lane[] {
  const closed: Lane[] = []
  for (const p of found) {
    const lane = present(lanes.of[p])
    if (lane?.counted === v) continue
    if (lane === undefined || lanes.forest.parent[lane.first] !== host || !endsBefore(lanes, lane, v)) return []
    lane.counted = v
    closed.push(lane)
  }
  return closed
}

function endsBefore({ forest, endIn }: Lanes, { ends }: Lane, v: number): boolean {
  for (const end of ends) if (endIn[end] === ends && !hasBit(forest.core.ancestors, v, end)) return false
  return true
}

/** An empty piece with these lanes as branches. */
function around(forest: Forest, host: number, lanes: readonly Lane[]): number {
  const v = forest.size++
  attach(forest, host, v, 'branch')
  for (const { first } of lanes) attach(forest, v, first, 'branch')
  return v
}

function lastOf({ closing }: Forest, first: number): number {
  let v = first
  for (let next = at(closing, v); next >= 0; next = at(closing, v)) v = next
  return v
}

/** A Parallel all alone stays as it is: its branches are those of the Parallel around it. */
function followEnd({ forest, of, endIn }: Lanes, lane: Lane, found: readonly number[]): void {
  for (const end of found) {
    const other = present(of[end])
    if (other === undefined || endIn[end] !== other.ends || forest.core.expressions[end]?.kind === 'par') continue
    if (other.depth + lane.depth > MAX_DEPTH) continue
    attach(forest, end, lane.first, 'branch')
    endIn[end] = undefined
    for (const own of lane.ends) {
      if (endIn[own] !== lane.ends) continue
      other.ends.push(own)
      endIn[own] = other.ends
    }
    other.depth += lane.depth
    lane.into = other
    return
  }
}

/** The lane it is part of now; the way there is shortened for the next who asks. */
function present(lane: Lane | undefined): Lane | undefined {
  if (lane?.into === undefined) return lane
  lane.into = present(lane.into)
  return lane.into
}
