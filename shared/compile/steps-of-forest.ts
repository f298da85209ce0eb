import { isEmpty } from './core.ts'
import { firstBlocks, lastBlocks } from './expression.ts'
import { flatten, type Step, type Steps, sideBySide } from './flatten.ts'
import type { Forest } from './forest.ts'

/** Whether one piece stands before another one, in sequence and not beside it. */
type IsOrdered = (u: number, v: number) => boolean

/** The forest as steps, with a join before each piece that comes after more than what stands before it. */
export function stepsOfForest(forest: Forest): Steps {
  const order = structuralOrder(forest)
  const sinks = forest.core.expressions.map((): readonly number[] | undefined => undefined)
  const sinksOf = (v: number) => {
    const known = sinks[v] ?? lastBlocks(forest.core.expressions[v] ?? EMPTY)
    sinks[v] = known
    return known
  }
  return laneOf(forest, 0, (v) => waitBefore(forest, v, order, sinksOf))
}

const EMPTY = { kind: 'none', holdsBlock: false, depth: 0 } as const

/** A nested order is where two walks agree: one takes branches first to last, the other last to first. */
function structuralOrder(forest: Forest): IsOrdered {
  const there = walk(forest, false)
  const back = walk(forest, true)
  return (u, v) => (there[u] ?? 0) < (there[v] ?? 0) && (back[u] ?? 0) < (back[v] ?? 0)
}

/** The place of each piece in the walk. Recursion is as deep as Parallels nest. */
function walk({ branches, closing }: Forest, backwards: boolean): Float64Array {
  const places = new Float64Array(branches.length).fill(Infinity)
  let place = 0
  const visit = (first: number) => {
    for (let v = first; v >= 0; ) {
      places[v] = place++
      const held = [...(branches[v] ?? [])]
      if (backwards) held.reverse()
      const [only = -1] = held
      const next = closing[v] ?? -1
      if (held.length === 1 && next < 0) v = only
      else {
        held.forEach(visit)
        v = next
      }
    }
  }
  visit(0)
  return places
}

function laneOf(forest: Forest, first: number, before: (v: number) => Steps): Steps {
  const lane: Step[] = []
  const { core, branches, closing } = forest
  for (let v = first; v >= 0; ) {
    lane.push(...before(v), ...flatten(core.expressions[v] ?? EMPTY))
    const held = [...(branches[v] ?? [])]
    const next = closing[v] ?? -1
    const [only] = held
    if (held.length === 1 && only !== undefined && next < 0) {
      v = only
      continue
    }
    lane.push(...sideBySide(held.map((k) => laneOf(forest, k, before))))
    v = next
  }
  return lane
}

function waitBefore(forest: Forest, v: number, isOrdered: IsOrdered, sinksOf: (v: number) => readonly number[]): Steps {
  const { core } = forest
  const sources = new Set<number>()
  const seen = new Set<number>()
  const open = [...(core.before[v] ?? [])]
  for (let p = open.pop(); p !== undefined; p = open.pop()) {
    if (seen.has(p) || isOrdered(p, v)) continue
    seen.add(p)
    // An empty piece signals nobody: whoever it stands behind does.
    if (isEmpty(core, p)) open.push(...(core.before[p] ?? []))
    for (const block of sinksOf(p)) sources.add(block)
  }
  if (sources.size === 0) return []
  return [{ kind: 'wait', join: { before: firstBlock(forest, v), sources: [...sources].sort((a, b) => a - b) } }]
}

/** Lowest index among the blocks the piece starts with; an empty one looks at what follows it. */
function firstBlock({ core, branches, closing }: Forest, first: number): number {
  let lowest = Number.POSITIVE_INFINITY
  const open = [first]
  for (let v = open.pop(); v !== undefined; v = open.pop()) {
    if (v < 0) continue
    if (!isEmpty(core, v)) lowest = Math.min(lowest, ...firstBlocks(core.expressions[v] ?? EMPTY))
    else open.push(...(branches[v]?.size === 0 ? [closing[v] ?? -1] : (branches[v] ?? [])))
  }
  return lowest
}
