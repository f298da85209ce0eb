import type { Step, Steps } from '../../shared/compile/steps.ts'
import type { Upstream } from '../../shared/compile/topological-order.ts'

/** One Parallel a level, one level after the other, as most do it: nobody needs a join, and everybody waits. */
export function levels(upstream: Upstream): Steps {
  const found: number[][] = []
  const levelOf: number[] = []
  for (const v of upstreamFirst(upstream)) {
    const level = Math.max(-1, ...(upstream[v] ?? []).map((p) => levelOf[p] ?? 0)) + 1
    levelOf[v] = level
    found[level] = [...(found[level] ?? []), v]
  }
  return found.map((blocks): Step => {
    const branches = blocks.map((block): Steps => [{ kind: 'block', block }])
    const [only] = branches
    return branches.length === 1 && only?.[0] !== undefined ? only[0] : { kind: 'par', branches }
  })
}

export function upstreamFirst(upstream: Upstream): readonly number[] {
  const downstream: number[][] = upstream.map(() => [])
  const waiting = upstream.map((sources) => sources.length)
  upstream.forEach((sources, v) => {
    for (const p of sources) downstream[p]?.push(v)
  })
  const order = upstream.flatMap((sources, v) => (sources.length === 0 ? [v] : []))
  for (let at = 0; at < order.length; at++) {
    for (const v of downstream[order[at] ?? 0] ?? []) {
      waiting[v] = (waiting[v] ?? 0) - 1
      if (waiting[v] === 0) order.push(v)
    }
  }
  return order
}
