import { compileDag } from '../compile/compile-dag.ts'
import { Fault } from '../errors.ts'
import { compiledMachines, machinesToSimulate } from './compiled-machines.ts'
import { type CriticalPath, criticalPath, type Upstream } from './critical-path.ts'
import { bytesWithArns, measureMachine } from './machine-size.ts'
import { simulateMachine } from './simulate-machine.ts'

/** Times in seconds. docs/plan.md says what each member is. */
interface PlannedLine {
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
  const run = simulateMachine(machinesToSimulate(compiled), {
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
    bytes: sum(machines.map(({ text }) => bytesWithArns(text))),
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

/** One DAG of `sluice plan --ndjson`, as plain indexes. */
interface PlanLine {
  readonly id: string | number
  readonly upstream: Upstream
  readonly seconds: readonly number[]
}

interface LineError {
  readonly id?: string | number
  readonly error: { readonly code: string; readonly message: string }
}

/** More than a document may have: a compiler can be measured at this size. */
const MAX_LINE_BLOCKS = 10_000
/** A line of them is about 60 MB. */
const MAX_LINE_EDGES = 5_000_000

/** Reads a line {"id","n","edges":[from,to,..],"dur":[seconds]}. Edges may be there twice; without `dur` each takes 1 s. */
function readPlanLine(text: string, number: number): PlanLine | LineError {
  const value = readJson(text)
  const id = idOf(value)
  if (value === undefined || id === undefined) return refused(number, undefined, 'malformed_line', FORM)
  const { n, edges = [], dur } = value
  if (!isCount(n) || n < 1) return refused(number, id, 'malformed_line', `"n" must be a whole number from 1, ${FORM}`)
  if (n > MAX_LINE_BLOCKS)
    return refused(number, id, 'limit_exceeded', `"n" is ${n}, at most ${MAX_LINE_BLOCKS} blocks are allowed`)
  const wrong = wrongEdges(edges, n) ?? wrongSeconds(dur, n)
  if (wrong !== undefined) return refused(number, id, wrong.code, wrong.why)
  // Checked just above.
  const ends = edges as readonly number[]
  return { id, upstream: upstreamOf(n, ends), seconds: (dur as readonly number[] | undefined) ?? Array(n).fill(1) }
}

function refused(line: number, id: string | number | undefined, code: string, why: string): LineError {
  return { ...(id !== undefined && { id }), error: { code, message: `Cannot plan line ${line} of stdin: ${why}.` } }
}

const FORM =
  'one JSON object {"id": string or number, "n": blocks, "edges": [from, to, from, to, ..], "dur": [seconds]} is needed'

function readJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** So that a tool can still tell which of its lines was wrong. */
function idOf(value: Readonly<Record<string, unknown>> | undefined): string | number | undefined {
  const id = value?.id
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

interface Wrong {
  readonly code: string
  readonly why: string
}

function wrongEdges(edges: unknown, n: number): Wrong | undefined {
  if (!Array.isArray(edges)) return { code: 'malformed_line', why: `"edges" must be a list of block indexes, ${FORM}` }
  if (edges.length % 2 === 1) {
    return {
      code: 'malformed_line',
      why: `"edges" has ${edges.length} numbers, an even count is needed: from, to, from, to, ..`,
    }
  }
  if (edges.length > 2 * MAX_LINE_EDGES) {
    return {
      code: 'limit_exceeded',
      why: `"edges" names ${edges.length / 2} edges, at most ${MAX_LINE_EDGES} are allowed`,
    }
  }
  const at = edges.findIndex((end) => !isCount(end) || end >= n)
  if (at === -1) return undefined
  const seen = shown(edges[at])
  return { code: 'unknown_block', why: `edges[${at}] is ${seen}, a block index from 0 to ${n - 1} is needed` }
}

function wrongSeconds(dur: unknown, n: number): Wrong | undefined {
  if (dur === undefined) return undefined
  if (!Array.isArray(dur) || dur.length !== n) {
    const seen = Array.isArray(dur) ? `has ${dur.length} numbers` : 'is no list'
    return { code: 'malformed_line', why: `"dur" ${seen}, one number of seconds for each of the ${n} blocks is needed` }
  }
  const at = dur.findIndex((seconds) => typeof seconds !== 'number' || seconds < 0 || seconds > MAX_SECONDS)
  if (at === -1) return undefined
  return { code: 'malformed_line', why: `dur[${at}] is ${shown(dur[at])}, seconds from 0 to ${MAX_SECONDS} are needed` }
}

/** A year: longer than any run lives. */
const MAX_SECONDS = 31_536_000

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 40)
}

function upstreamOf(n: number, edges: readonly number[]): Upstream {
  const upstream: number[][] = Array.from({ length: n }, () => [])
  for (let i = 0; i < edges.length; i += 2) upstream[edges[i + 1] ?? 0]?.push(edges[i] ?? 0)
  return upstream
}
