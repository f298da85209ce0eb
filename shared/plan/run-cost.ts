import { FUNCTIONS } from '../catalog.ts'
import { isJudged } from '../dag/completion.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { type Expectations, expectedItems } from './expectations.ts'
import { PRICES } from './prices.ts'
import { FUNCTION_MB, QUANTITIES, RESEARCH_RUN } from './quantities.ts'
import type { SimulatedRun } from './simulate-machine.ts'

interface CostLine {
  readonly what: string
  /** For 1,000 runs. */
  readonly quantity: number
  readonly usd: number
}

/** What 1,000 runs cost on AWS, in list prices. */
export interface RunCost {
  readonly region: string
  /** Day of the price table. */
  readonly as_of: string
  /** Without the blocks' own work and without models. */
  readonly orchestration_usd_per_1000_runs: number
  readonly lines: readonly CostLine[]
  /** The function that runs a block is paid for while the block works or waits for a model. */
  readonly work_usd_per_1000_runs: number
}

/** `workSeconds`: the sum of the durations of all blocks and items. docs/plan.md writes the formula out. */
export function runCost(dag: Dag, run: SimulatedRun, workSeconds: number, expectations: Expectations): RunCost {
  const counted = { approvals: run.calls.RequestApproval ?? 0, questions: questionsOf(dag, expectations) }
  const { approvals, questions } = counted
  const calls = callsOf(run, counted)
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0)
  const executions = run.executions.length + questions
  const puts = QUANTITIES.puts_a_run + QUANTITIES.puts_a_block * run.works + QUANTITIES.puts_an_approval * approvals
  const gets = QUANTITIES.gets_a_run + QUANTITIES.gets_a_block * run.works
  const own = run.executions.reduce((sum, { transitions }) => sum + transitions, 0)
  const lines = [
    line('state transitions', own + RESEARCH_RUN.transitions * questions, PRICES.transition),
    line('Lambda requests', total, PRICES.lambda_request),
    line('Lambda GB-seconds', gbSeconds(calls), PRICES.lambda_gb_second),
    line('table write units', writeUnits(dag, run, counted, expectations), PRICES.write_unit),
    line(
      'table read units',
      QUANTITIES.read_units_a_call * total + RESEARCH_RUN.read_units * questions,
      PRICES.read_unit,
    ),
    line('objects written', puts + (isJudged(dag) ? 1 : 0) + RESEARCH_RUN.puts * questions, PRICES.s3_put),
    line('objects read', gets + RESEARCH_RUN.gets * questions, PRICES.s3_get),
    line('API requests', 1 + approvals, PRICES.api_request),
    line('log GB', (total * QUANTITIES.log_bytes_a_call) / 1e9, PRICES.log_gb),
    line('traces', executions + 1 + approvals, PRICES.trace),
  ]
  const work = workSeconds * gigabytes('run-block') * PRICES.lambda_gb_second * RUNS
  return {
    region: PRICES.region,
    as_of: PRICES.as_of,
    orchestration_usd_per_1000_runs: rounded(lines.reduce((sum, { usd }) => sum + usd, 0)),
    lines,
    work_usd_per_1000_runs: rounded(work),
  }
}

interface Counted {
  readonly approvals: number
  /** Runs of the research chain. */
  readonly questions: number
}

const RUNS = 1_000

function line(what: string, each: number, price: number): CostLine {
  return { what, quantity: rounded(each * RUNS), usd: rounded(each * RUNS * price) }
}

function questionsOf({ blocks }: Dag, expectations: Expectations): number {
  const asking = blocks.filter(({ mode }) => mode === 'research')
  return asking.reduce((sum, block) => sum + (block.foreach === undefined ? 1 : expectedItems(block, expectations)), 0)
}

/** Calls of the machine by function name, and those a run makes beside it. */
function callsOf({ calls }: SimulatedRun, { approvals, questions }: Counted): Readonly<Record<string, number>> {
  const named = Object.entries(calls).map(([placeholder, count]) => {
    const name = FUNCTIONS.find((one) => one.placeholder === placeholder)?.name ?? placeholder
    return [name, count] as const
  })
  const all = [
    ...named,
    ...times(QUANTITIES.calls_a_run, 1),
    ...times(QUANTITIES.calls_an_approval, approvals),
    ...times(RESEARCH_RUN.calls, questions),
  ]
  const names = [...new Set(all.map(([name]) => name))]
  return Object.fromEntries(
    names.map((name) => [name, all.reduce((sum, [of, count]) => sum + (of === name ? count : 0), 0)]),
  )
}

function times(calls: Readonly<Record<string, number>>, by: number): readonly (readonly [string, number])[] {
  return Object.entries(calls).map(([name, count]) => [name, count * by])
}

function gbSeconds(calls: Readonly<Record<string, number>>): number {
  const each = Object.entries(calls).map(([name, count]) => count * gigabytes(name))
  return each.reduce((sum, gb) => sum + gb, 0) * QUANTITIES.seconds_a_call
}

function gigabytes(name: string): number {
  return (FUNCTION_MB[name] ?? 256) / 1_024
}

/** Every append rewrites HEAD, which grows with the blocks; a signal and a wait are one small item each. */
function writeUnits(
  dag: Dag,
  { works, calls }: SimulatedRun,
  { approvals, questions }: Counted,
  expectations: Expectations,
): number {
  const gates = dag.blocks.reduce((sum, block) => sum + verdictsOf(block, expectations), 0)
  const events =
    QUANTITIES.events_a_run + QUANTITIES.events_a_block * works + QUANTITIES.events_an_approval * approvals + gates
  const each = QUANTITIES.units_an_event + QUANTITIES.units_an_event_and_block * dag.blocks.length
  const beside = QUANTITIES.units_an_approval * approvals + RESEARCH_RUN.write_units * questions
  return QUANTITIES.units_a_run + contextUnits(dag) + events * each + 2 * (calls.WaitJoin ?? 0) + beside
}

function verdictsOf(block: Block, expectations: Expectations): number {
  const own = block.pre_gates.length + block.post_gates.length
  return own + (block.foreach?.item_gates.length ?? 0) * expectedItems(block, expectations)
}

/** The context holds what the inputs are given; nobody knows it before but the defaults. A unit is 1 KiB. */
function contextUnits({ inputs }: Dag): number {
  const given = Object.entries(inputs).map(([name, { default: value }]) => [name, value])
  return Math.ceil(Buffer.byteLength(JSON.stringify(Object.fromEntries(given))) / 1_024)
}

/** Six significant digits: a price list has no more. */
function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
