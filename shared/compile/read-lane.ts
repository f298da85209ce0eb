import type { Forest } from './forest.ts'

/** A lane on the main lane's Parallel, with all that is in it. */
export interface Lane {
  readonly first: number
  readonly pieces: readonly number[]
  /** Its last pieces: whatever comes after all of them comes after the lane. */
  readonly ends: Set<number>
  /** How deep Parallels nest in it. */
  depth: number
  /** The lane it was moved into. */
  into: Lane | undefined
}

export function readLane(forest: Forest, first: number): Lane {
  const { core, branches, closing } = forest
  const pieces: number[] = []
  const ends = new Set<number>()
  let depth = 0
  const open = [{ v: first, level: 0, closed: false }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { v, level, closed } = next
    const held = branches[v]
    const behind = closing[v] ?? -1
    pieces.push(v)
    depth = Math.max(depth, level + (core.expressions[v]?.depth ?? 0))
    if (behind >= 0) open.push({ v: behind, level, closed })
    else if (held?.size === 0 && !closed) ends.add(v)
    const inner = { level: level + levelsBelow(forest, v), closed: closed || behind >= 0 }
    for (const k of held ?? []) open.push({ v: k, ...inner })
  }
  return { first, pieces, ends, depth, into: undefined }
}

/** One branch with nothing behind it is the same lane. */
export function levelsBelow({ branches, closing }: Forest, v: number): number {
  return (branches[v]?.size ?? 0) > 1 || (closing[v] ?? -1) >= 0 ? 1 : 0
}
