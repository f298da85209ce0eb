import { FUNCTIONS } from '../catalog.ts'
import type { Dag } from '../dag/dag.ts'
import { FUNCTION_MB, PRICES, QUANTITIES } from './prices.ts'
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
export function runCost(dag: Dag, run: SimulatedRun, workSeconds: number): RunCost {
  const transitions = run.executions.reduce((sum, execution) => sum + execution.transitions, 0)
  const calls = callsOf(run)
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0)
  const objects = QUANTITIES.objects_a_run + QUANTITIES.objects_a_block * run.works
  const lines = [
    line('state transitions', transitions, PRICES.transition),
    line('Lambda requests', total, PRICES.lambda_request),
    line('Lambda GB-seconds', gbSeconds(calls), PRICES.lambda_gb_second),
    line('table write units', writeUnits(dag, run), PRICES.write_unit),
    line('table read units', QUANTITIES.read_units_a_run + QUANTITIES.read_units_a_call * total, PRICES.read_unit),
    line('objects written', objects, PRICES.s3_put),
    line('objects read', objects, PRICES.s3_get),
    line('API requests', 1, PRICES.api_request),
    line('log GB', (total * QUANTITIES.log_bytes_a_call) / 1e9, PRICES.log_gb),
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

const RUNS = 1_000

function line(what: string, each: number, price: number): CostLine {
  return { what, quantity: rounded(each * RUNS), usd: rounded(each * RUNS * price) }
}

/** Calls of the machine by function name, and those a run makes beside it. */
function callsOf({ calls }: SimulatedRun): Readonly<Record<string, number>> {
  const named = Object.entries(calls).map(([placeholder, count]) => {
    const name = FUNCTIONS.find((one) => one.placeholder === placeholder)?.name ?? placeholder
    return [name, count] as const
  })
  return { ...Object.fromEntries(named), 'start-run': 1, 'send-outbox': QUANTITIES.outbox_calls }
}

function gbSeconds(calls: Readonly<Record<string, number>>): number {
  const each = Object.entries(calls).map(([name, count]) => count * gigabytes(name))
  return each.reduce((sum, gb) => sum + gb, 0) * QUANTITIES.seconds_a_call
}

function gigabytes(name: string): number {
  return (FUNCTION_MB[name] ?? 256) / 1_024
}

/** Every append rewrites HEAD, which grows with the blocks; a signal and a wait are one small item each. */
function writeUnits({ blocks }: Dag, { works, calls }: SimulatedRun): number {
  const gates = blocks.reduce((sum, { pre_gates, post_gates }) => sum + pre_gates.length + post_gates.length, 0)
  const approvals = calls.RequestApproval ?? 0
  const events =
    QUANTITIES.events_a_run + QUANTITIES.events_a_block * works + QUANTITIES.events_an_approval * approvals + gates
  const each = QUANTITIES.units_an_event + QUANTITIES.units_an_event_and_block * blocks.length
  return QUANTITIES.units_a_run + events * each + 2 * (calls.WaitJoin ?? 0) + approvals
}

/** Six significant digits: a price list has no more. */
function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
