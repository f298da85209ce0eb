import type { Core } from './core.ts'
import { at, zeros } from './zeros.ts'

/**
 * The pieces of a core as lanes. A lane is a piece, then its branches side by side, then its closing: the piece that
 * starts when all branches have ended. Whatever follows a piece here comes after it in the order, so a forest never
 * adds order; where it holds too little, a piece gets a join.
 * Numbers past the core's pieces are empty pieces that only hold branches and a closing. -1 is no piece.
 */
export interface Forest {
  readonly core: Core
  /** How many pieces there are, with those past the core's. */
  size: number
  /** The piece whose branch or closing a piece is; -1: a root. */
  readonly parent: number[]
  readonly closing: number[]
  /** How many branches a piece has; the first and last of them, and from each branch the ones beside it. */
  readonly held: number[]
  readonly first: number[]
  readonly last: number[]
  readonly next: number[]
  readonly previous: number[]
}

/** With room for the pieces `appendLanes` adds: each makes one lane of three or more. */
export function forestFor(core: Core): Forest {
  const room = core.size + (core.size >> 1)
  return {
    core,
    size: core.size,
    held: zeros(room),
    parent: zeros(room),
    closing: zeros(room),
    first: zeros(room),
    last: zeros(room),
    next: zeros(room),
    previous: zeros(room),
  }
}

export function attach(forest: Forest, host: number, v: number, as: 'branch' | 'closing'): void {
  detach(forest, v)
  const { parent, closing, held, first, last, next, previous } = forest
  parent[v] = host
  if (as === 'closing') {
    closing[host] = v
    return
  }
  const before = at(last, host)
  previous[v] = before
  next[v] = -1
  if (before < 0) first[host] = v
  else next[before] = v
  last[host] = v
  held[host] = at(held, host) + 1
}

export function detach({ parent, closing, held, first, last, next, previous }: Forest, v: number): void {
  const host = at(parent, v)
  parent[v] = -1
  if (host < 0 || closing[host] === v) return
  const before = at(previous, v)
  const after = at(next, v)
  if (before < 0) first[host] = after
  else next[before] = after
  if (after < 0) last[host] = before
  else previous[after] = before
  held[host] = at(held, host) - 1
}
