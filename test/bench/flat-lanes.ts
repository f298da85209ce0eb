import type { Step, Steps } from '../../shared/compile/steps.ts'
import type { Upstream } from '../../shared/compile/topological-order.ts'
import { upstreamFirst } from './levels.ts'

/** One Parallel of lanes: a block follows the first upstream block nobody follows yet, and waits for the others. */
export function flatLanes(upstream: Upstream): Steps {
  const follower: number[] = []
  for (const v of upstreamFirst(upstream)) {
    const free = (upstream[v] ?? []).find((p) => follower[p] === undefined)
    if (free !== undefined) follower[free] = v
  }
  return lanesOf(upstream, follower)
}

/**
 * The same with as few lanes as there can be: a minimum path cover, which is a maximum matching of blocks with those
 * they follow (augmenting paths).
 */
export function pathCover(upstream: Upstream): Steps {
  const follower: number[] = []
  for (const v of upstreamFirst(upstream)) augment(upstream, follower, v)
  return lanesOf(upstream, follower)
}

/** Finds v somebody to follow; who followed there finds somebody else. Depth first, without recursion. */
function augment(upstream: Upstream, follower: number[], start: number): void {
  const asked = new Set<number>()
  const path = [{ v: start, next: 0 }]
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const p = upstream[top.v]?.[top.next++]
    if (p === undefined) path.pop()
    if (p === undefined || asked.has(p)) continue
    asked.add(p)
    const other = follower[p]
    if (other === undefined) {
      for (const { v, next } of path) follower[upstream[v]?.[next - 1] ?? 0] = v
      return
    }
    path.push({ v: other, next: 0 })
  }
}

function lanesOf(upstream: Upstream, follower: readonly number[]): Steps {
  const followed = new Set(follower.filter((v) => v !== undefined))
  const branches = upstream.flatMap((_, first) => (followed.has(first) ? [] : [laneFrom(upstream, follower, first)]))
  const [only] = branches
  return branches.length === 1 && only !== undefined ? only : [{ kind: 'par', branches }]
}

function laneFrom(upstream: Upstream, follower: readonly number[], first: number): Steps {
  const lane: Step[] = []
  let previous: number | undefined
  for (let v: number | undefined = first; v !== undefined; v = follower[v]) {
    const sources = (upstream[v] ?? []).filter((p) => p !== previous)
    if (sources.length > 0) lane.push({ kind: 'wait', join: { before: v, sources } })
    lane.push({ kind: 'block', block: v })
    previous = v
  }
  return lane
}
