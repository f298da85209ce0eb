import type { Core } from './core.ts'

/**
 * The pieces of a core as lanes. A lane is a piece, then its branches side by side, then its closing: the piece that
 * starts when all branches have ended. Whatever follows a piece here comes after it in the order, so a forest never
 * adds order; where it holds too little, a piece gets a join.
 * Numbers past the core's pieces are empty pieces that only hold branches and a closing.
 */
export interface Forest {
  readonly core: Core
  /** The piece whose branch or closing a piece is; -1: a root. */
  readonly parent: number[]
  readonly branches: Set<number>[]
  /** -1: none. */
  readonly closing: number[]
}

/** A piece that is one Parallel and nothing else gives its branches to a Parallel around it. */
export function lanesIn({ core, branches, closing }: Forest, v: number): number {
  return core.expressions[v]?.kind === 'par' && branches[v]?.size === 0 && closing[v] === -1 ? 2 : 1
}

export function attach(forest: Forest, host: number, v: number, as: 'branch' | 'closing'): void {
  detach(forest, v)
  forest.parent[v] = host
  if (as === 'branch') forest.branches[host]?.add(v)
  else forest.closing[host] = v
}

export function detach({ parent, branches }: Forest, v: number): void {
  branches[parent[v] ?? -1]?.delete(v)
  parent[v] = -1
}
