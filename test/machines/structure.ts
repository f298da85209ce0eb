import type { Machine, ParallelState, State } from '../../shared/compile/asl.ts'
import type { MachinePart } from '../../shared/compile/compile-dag.ts'

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

interface Exit {
  readonly module: number
  /** The joins outside that it signals when its module is left. */
  readonly signals: readonly string[]
}

export interface Structure {
  readonly blocks: readonly Occurrence[]
  readonly exits: readonly Exit[]
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

/** Reads from a machine's text, and that of the parts it starts, what they order. A bounce module is read once through. */
export function structureOf(machine: Machine, parts: readonly MachinePart[] = []): Structure {
  const blocks: Occurrence[] = []
  const exits: Exit[] = []
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
    if (state.Type === 'Map') names.push(...Object.keys(state.ItemProcessor.States))
    const { StateMachineArn = '', FunctionName = '', Payload = {} } = argumentsOf(state)
    const part = parts.find(({ key }) => key === StateMachineArn.slice(2, -1))
    return part === undefined ? call(FunctionName.slice(2, -1), Payload, passed) : walk(part.definition, passed, 0)
  }
  const call = (name: string, payload: Payload, passed: Passed): Passed => {
    const { block = '', joins = [], join = '', need = 0, phase, module } = payload
    if (name === 'WaitJoin') {
      needs.set(join, need)
      return { ...passed, joins: union([passed.joins, new Set([join])]) }
    }
    if (module !== undefined) exits.push({ module, signals: joins })
    if (name !== 'RunBlock' || phase === 'items') return passed
    blocks.push({ id: block, ...passed, signals: joins })
    return { ...passed, before: union([passed.before, new Set([block])]) }
  }
  walk(machine, { before: new Set(), joins: new Set() }, 0)
  return { blocks, exits, needs, parallels, depth, names }
}

interface Arguments {
  readonly FunctionName?: string
  readonly StateMachineArn?: string
  readonly Payload?: Payload
}

interface Payload {
  readonly block?: string
  readonly joins?: readonly string[]
  readonly join?: string
  readonly need?: number
  readonly phase?: string
  readonly module?: number
}

function argumentsOf(state: State): Arguments {
  return state.Type === 'Task' ? (state.Arguments as Arguments) : {}
}

/** Of a Choice the way that leads on. */
function next(row: Machine, state: State): State | undefined {
  if (state.Type === 'Choice') return row.States[state.Default ?? '']
  return 'Next' in state ? row.States[state.Next] : undefined
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return sets.length === 1 && sets[0] !== undefined ? sets[0] : new Set(sets.flatMap((set) => [...set]))
}
