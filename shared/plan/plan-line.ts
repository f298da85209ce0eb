import { compileDag } from '../compile/compile-dag.ts'
import { Fault } from '../errors.ts'
import { compiledMachines, simulatedMachines } from './compiled-machines.ts'
import { type CriticalPath, criticalPath } from './critical-path.ts'
import { boundBytes, measureMachine } from './measure-machines.ts'
import { type LineError, type PlanLine, readPlanLine, refused } from './read-plan-line.ts'
import { simulateMachine } from './simulate-machine.ts'

/** Times in seconds. docs/plan.md says what each member is. */
export interface PlannedLine {
  readonly id: string | number
  readonly critical_path: number
  readonly makespan: number | null
  readonly max_start_error: number
  readonly transitions: number
  readonly events: number
  readonly bytes: number
  readonly joins: number
  readonly parallels: number
  readonly signals: number
  readonly machines: number
  readonly states: number
  readonly compile_ms: number
}

/** Plans one DAG given as indexes. `clock` answers milliseconds, for `compile_ms` alone. */
export function planLine(text: string, number: number, clock: () => number): PlannedLine | LineError {
  const line = readPlanLine(text, number)
  if ('error' in line) return line
  const path = criticalPath(line.upstream, line.seconds)
  if ('cycle' in path) return refused(number, line.id, 'cycle', `blocks wait for each other: ${ringOf(path.cycle)}`)
  try {
    return planned(line, path, clock)
  } catch (error) {
    // One graph that no machine can hold ends no stream.
    if (!(error instanceof Fault)) throw error
    return refused(number, line.id, error.code, error.message)
  }
}

function planned({ id, upstream, seconds }: PlanLine, path: CriticalPath, clock: () => number): PlannedLine {
  const blocks = upstream.map((sources, index) => ({
    id: nameOf(index),
    index,
    mode: 'deterministic' as const,
    upstream: sources.map(nameOf),
  }))
  const before = clock()
  const compiled = compileDag({ blocks })
  const compile_ms = Math.round((clock() - before) * 1_000) / 1_000
  const machines = compiledMachines(compiled)
  const run = simulateMachine(simulatedMachines(compiled), {
    seconds: (block) => seconds[indexOf(block)] ?? 0,
    items: () => 0,
    bounces: () => 0,
    max_parallel: 0,
  })
  const figures = machines.map(({ definition }) => measureMachine(definition))
  return {
    id,
    critical_path: path.length,
    makespan: run.makespan ?? null,
    max_start_error: largestError(path.starts, run.started),
    transitions: sum(run.executions.map(({ transitions }) => transitions)),
    events: sum(run.executions.map(({ events }) => events)),
    bytes: sum(machines.map(({ text }) => boundBytes(text))),
    joins: sum(figures.map(({ joins }) => joins)),
    parallels: sum(figures.map(({ parallels }) => parallels)),
    signals: sum(figures.map(({ signals }) => signals)),
    machines: machines.length,
    states: sum(figures.map(({ states }) => states)),
    compile_ms,
  }
}

/** Block ids as short as people's are: their length is part of `bytes`. */
function nameOf(index: number): string {
  return `b${index}`
}

function indexOf(id: string): number {
  return Number(id.slice(1))
}

/** How far a block starts from when it could; a block that never starts is infinitely late. */
function largestError(starts: readonly number[], started: ReadonlyMap<string, number>): number {
  return starts.reduce((most, start, index) => {
    const seen = started.get(nameOf(index)) ?? Number.MAX_VALUE
    return Math.max(most, Math.abs(seen - start))
  }, 0)
}

function ringOf(cycle: readonly number[]): string {
  const shown = cycle.length <= 10 ? cycle : [...cycle.slice(0, 9), '..', cycle.at(-1)]
  return [...shown, cycle[0]].join(' -> ')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
