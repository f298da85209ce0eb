import { hasBit } from './bit-rows.ts'
import { attach, type Forest } from './forest.ts'
import { mainLane } from './host-roots.ts'
import { type Lane, readLane } from './read-lane.ts'
import { MAX_DEPTH } from './series-parallel.ts'

interface Lanes {
  readonly forest: Forest
  /** The lane each piece was in at first. */
  readonly of: ReadonlyMap<number, Lane>
}

/**
 * Moves lanes that begin with a join behind those they wait for. A lane that comes after all of these needs no join:
 * one is simply followed, several become a Parallel, which costs less. A lane that comes after one end of another one
 * follows there: its join has a signal less.
 */
export function appendLanes(forest: Forest): void {
  const lanes = { forest, of: lanesOnMain(forest) }
  forest.core.before.forEach((sources, v) => {
    const lane = lanes.of.get(v)
    if (lane?.first !== v || sources.length < 2) return
    const found = placesBefore(forest, v)
    if (!closeLanes(lanes, lane, found)) followEnd(lanes, lane, found)
  })
}

function lanesOnMain(forest: Forest): ReadonlyMap<number, Lane> {
  const of = new Map<number, Lane>()
  for (const host of mainLane(forest)) {
    for (const first of forest.branches[host] ?? []) {
      const lane = readLane(forest, first)
      for (const v of lane.pieces) of.set(v, lane)
    }
  }
  return of
}

/** The predecessors that have a place, for an empty piece without one those before it; the host needs no mention. */
function placesBefore({ core, parent }: Forest, v: number): ReadonlySet<number> {
  const found = new Set<number>()
  const open = [...(core.before[v] ?? [])]
  for (let p = open.pop(); p !== undefined; p = open.pop()) {
    if (p === parent[v] || found.has(p)) continue
    if (p === 0 || parent[p] !== -1) found.add(p)
    else open.push(...(core.before[p] ?? []))
  }
  return found
}

function closeLanes({ forest, of }: Lanes, lane: Lane, sources: ReadonlySet<number>): boolean {
  const v = lane.first
  const host = forest.parent[v] ?? 0
  const others = new Set([...sources].map((p) => present(of.get(p))))
  const closed = [...others].filter((other): other is Lane => other !== undefined && endsBefore(forest, other, host, v))
  const depth = Math.max(0, ...closed.map((other) => other.depth))
  const [only] = closed
  if (only === undefined || closed.length < others.size || (closed.length > 1 && depth >= MAX_DEPTH)) return false
  const first = closed.length > 1 ? around(forest, host, closed) : only.first
  attach(forest, lastOf(forest, first), v, 'closing')
  const level = closed.length > 1 ? 1 : 0
  const joined = { first, pieces: [], ends: lane.ends, depth: Math.max(lane.depth, depth + level), into: undefined }
  for (const part of [lane, ...closed]) part.into = joined
  return true
}

/** Whether the lane is beside piece v and all of it comes before v. */
function endsBefore({ core, parent }: Forest, lane: Lane, host: number, v: number): boolean {
  return parent[lane.first] === host && [...lane.ends].every((end) => hasBit(core.ancestors, v, end))
}

/** An empty piece with these lanes as branches. */
function around(forest: Forest, host: number, lanes: readonly Lane[]): number {
  const v = forest.parent.length
  forest.parent.push(-1)
  forest.branches.push(new Set())
  forest.closing.push(-1)
  attach(forest, host, v, 'branch')
  for (const { first } of lanes) attach(forest, v, first, 'branch')
  return v
}

function lastOf({ closing }: Forest, first: number): number {
  let v = first
  for (let next = closing[v] ?? -1; next >= 0; next = closing[v] ?? -1) v = next
  return v
}

/** A Parallel all alone stays as it is: its branches are those of the Parallel around it. */
function followEnd({ forest, of }: Lanes, lane: Lane, sources: ReadonlySet<number>): void {
  for (const end of sources) {
    const other = present(of.get(end))
    if (other === undefined || !other.ends.has(end) || forest.core.expressions[end]?.kind === 'par') continue
    if (other.depth + lane.depth > MAX_DEPTH) continue
    attach(forest, end, lane.first, 'branch')
    other.ends.delete(end)
    for (const own of lane.ends) other.ends.add(own)
    other.depth = Math.max(other.depth, other.depth + lane.depth)
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
