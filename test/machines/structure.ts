import type { Machine, ParallelState, State } from '../../shared/compile/asl.ts'

/** One occurrence of a block in a machine. */
interface Occurrence {
  readonly id: string
  /** Blocks that stand before it: earlier states of its row, and whatever stands before its Parallel. */
  readonly before: ReadonlySet<string>
  /** Joins that stand before it in the same sense. */
  readonly joins: ReadonlySet<string>
  /** The joins it signals. */
  readonly signals: readonly string[]
}

export interface Structure {
  readonly blocks: readonly Occurrence[]
  /** How many signals each join waits for. */
  readonly needs: ReadonlyMap<string, number>
  readonly parallels: readonly ParallelState[]
  /** How deep Parallels nest. */
  readonly depth: number
  /** Names of all states, `_retry_` ones too. */
  readonly names: readonly string[]
}

interface Passed {
  readonly before: ReadonlySet<string>
  readonly joins: ReadonlySet<string>
}

/** Reads from a machine's text what it orders. */
export function structureOf(machine: Machine): Structure {
  const blocks: Occurrence[] = []
  const needs = new Map<string, number>()
  const parallels: ParallelState[] = []
  const names: string[] = []
  let depth = 0

  const walk = (row: Machine, from: Passed, level: number): Passed => {
    depth = Math.max(depth, level)
    names.push(...Object.keys(row.States))
    let passed = from
    for (let state = row.States[row.StartAt]; state !== undefined; state = next(row, state)) {
      passed = pass(state, passed, level)
    }
    return passed
  }
  const pass = (state: State, passed: Passed, level: number): Passed => {
    if (state.Type === 'Parallel') {
      parallels.push(state)
      const ends = state.Branches.map((branch) => walk(branch, passed, level + 1))
      return { before: union(ends.map((end) => end.before)), joins: union(ends.map((end) => end.joins)) }
    }
    const { block, joins, join, need } = payloadOf(state)
    if (join !== undefined && need !== undefined) {
      needs.set(join, need)
      return { ...passed, joins: union([passed.joins, new Set([join])]) }
    }
    if (block === undefined || joins === undefined) return passed
    blocks.push({ id: block, ...passed, signals: joins })
    return { ...passed, before: union([passed.before, new Set([block])]) }
  }
  walk(machine, { before: new Set(), joins: new Set() }, 0)
  return { blocks, needs, parallels, depth, names }
}

interface Payload {
  readonly block?: string
  readonly joins?: readonly string[]
  readonly join?: string
  readonly need?: number
}

function payloadOf(state: State): Payload {
  return state.Type === 'Task' ? (state.Arguments as { readonly Payload: Payload }).Payload : {}
}

function next(row: Machine, state: State): State | undefined {
  return 'Next' in state ? row.States[state.Next] : undefined
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return sets.length === 1 && sets[0] !== undefined ? sets[0] : new Set(sets.flatMap((set) => [...set]))
}
