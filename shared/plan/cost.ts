import { FUNCTIONS } from '../catalog.ts'
import { type Block, type Dag, isJudged } from '../dag/dag.ts'
import { PRICES } from './aws-prices.ts'
import { type Expectations, expectedItems } from './expectations.ts'
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

/** Work of a block that is code of the project: how often, seconds each, and megabytes of its function. */
export interface StepWork {
  readonly works: number
  readonly seconds: number
  readonly mb: number
}

/** Durations of all blocks and items, and those of steps apart: they work in functions of their own. */
interface Work {
  readonly seconds: number
  readonly steps: readonly StepWork[]
}

/** What 1,000 runs cost; docs/plan.md writes the formula out. */
export function runCost(dag: Dag, run: SimulatedRun, work: Work, expectations: Expectations): RunCost {
  const counted = { approvals: run.calls.RequestApproval ?? 0, questions: questionsOf(dag, expectations) }
  const { approvals, questions } = counted
  const steps = work.steps.reduce((sum, { works }) => sum + works, 0)
  const calls = { ...callsOf(run, counted), ...stepCalls(work) }
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0)
  const executions = run.executions.length + questions
  const puts =
    QUANTITIES.puts_a_run +
    QUANTITIES.puts_a_block * run.works +
    QUANTITIES.puts_a_step * steps +
    QUANTITIES.puts_an_approval * approvals
  const gets = QUANTITIES.gets_a_run + QUANTITIES.gets_a_block * run.works + QUANTITIES.gets_a_step * steps
  const own = run.executions.reduce((sum, { transitions }) => sum + transitions, 0)
  const lines = [
    costLine('state transitions', own + RESEARCH_RUN.transitions * questions, PRICES.transition),
    costLine('Lambda requests', total, PRICES.lambda_request),
    costLine('Lambda GB-seconds', gbSeconds(calls), PRICES.lambda_gb_second),
    costLine('table write units', writeUnits(dag, run, counted, expectations), PRICES.write_unit),
    costLine(
      'table read units',
      QUANTITIES.read_units_a_call * total + RESEARCH_RUN.read_units * questions,
      PRICES.read_unit,
    ),
    costLine('objects written', puts + (isJudged(dag) ? 1 : 0) + RESEARCH_RUN.puts * questions, PRICES.s3_put),
    costLine('objects read', gets + RESEARCH_RUN.gets * questions, PRICES.s3_get),
    costLine('API requests', 1 + approvals, PRICES.api_request),
    costLine('log GB', (total * QUANTITIES.log_bytes_a_call) / 1e9, PRICES.log_gb),
    costLine('traces', executions + 1 + approvals, PRICES.trace),
  ]
  const inSteps = work.steps.reduce((sum, { works, seconds, mb }) => sum + (works * seconds * mb) / 1_024, 0)
  const worked = (work.seconds * gigabytes('run-block') + inSteps) * PRICES.lambda_gb_second * RUNS
  return {
    region: PRICES.region,
    as_of: PRICES.as_of,
    orchestration_usd_per_1000_runs: rounded(lines.reduce((sum, { usd }) => sum + usd, 0)),
    lines,
    work_usd_per_1000_runs: rounded(worked),
  }
}

interface Counted {
  readonly approvals: number
  /** Runs of the research chain. */
  readonly questions: number
}

const RUNS = 1_000

function costLine(what: string, each: number, price: number): CostLine {
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

/** Each is a call of its own function; report-step hears its begin, its end, and a look every few seconds. */
function stepCalls({ steps }: Work): Readonly<Record<string, number>> {
  if (steps.length === 0) return {}
  const looks = ({ seconds }: StepWork) => Math.floor(seconds / QUANTITIES.seconds_a_look)
  return {
    'report-step': steps.reduce((sum, step) => sum + step.works * (2 + looks(step)), 0),
    'a step': steps.reduce((sum, { works }) => sum + works, 0),
  }
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

/** Every append rewrites HEAD; a signal and a wait are one small item each. */
function writeUnits(
  dag: Dag,
  { works, calls }: SimulatedRun,
  { approvals, questions }: Counted,
  expectations: Expectations,
): number {
  const gates = dag.blocks.reduce((sum, block) => sum + verdictsOf(block, expectations), 0)
  const events =
    QUANTITIES.events_a_run + QUANTITIES.events_a_block * works + QUANTITIES.events_an_approval * approvals + gates
  const beside = QUANTITIES.units_an_approval * approvals + RESEARCH_RUN.write_units * questions
  const written = QUANTITIES.units_a_run + contextUnits(dag) + events * QUANTITIES.units_an_event
  return written + 2 * (calls.WaitJoin ?? 0) + beside
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

/** Memory of the functions, MB: infra/aws/function-sizes.ts, and a test holds them equal. */
export const FUNCTION_MB: Readonly<Record<string, number>> = {
  'run-block': 1_024,
  'decide-completion': 1_024,
  'wait-join': 256,
  'request-approval': 512,
  'open-child': 1_024,
  'open-wait': 1_024,
  'open-step': 1_024,
  'close-module': 256,
  settle: 256,
  'nl-classify': 1_769,
  'route-search': 512,
  'execute-subqueries': 1_769,
  'assess-sufficiency': 1_769,
  'synthesize-answer': 1_769,
  'start-run': 1_024,
  'send-outbox': 256,
}

/** Traced on the functions as they are deployed (test/aws/costs.test.ts), but for the seconds: see docs/plan.md. */
export const QUANTITIES = {
  /** Assumed. A call besides the work of its block: reading, judging, appending. */
  seconds_a_call: 0.3,
  /** Calls a run makes beside its machine: the start, and the outbox at its end. */
  calls_a_run: { 'start-run': 1, 'send-outbox': 1 },
  /** A person's decision, and the outbox that answers the machine. */
  calls_an_approval: { 'decide-approval': 1, 'send-outbox': 1 },
  /** Stored events: run:started and the run's end; ready, started, output, completed of a block; one of each gate. */
  events_a_run: 2,
  events_a_block: 4,
  /** requested and decided. */
  events_an_approval: 2,
  /** Write units an event with what lies beside it: HEAD stays small, however many blocks there are. */
  units_an_event: 1.7,
  /** META, HEAD, place, rate, index entries and the end of a run. */
  units_a_run: 12,
  /** The question with what was shown, who answered it, and the writes that found it answered already. */
  units_an_approval: 7,
  read_units_a_call: 4.5,
  /** The document; a prompt and an output of each block; a question and what it shows; the verdict on a goal. */
  puts_a_run: 1,
  puts_a_block: 2,
  puts_an_approval: 2,
  /** A function that is warm has the document; a block reads its inputs, and gates what they judge. */
  gets_a_run: 1,
  gets_a_block: 4,
  /** Read from the code, not traced: the order, the outcome and the log of a step; the order and the outcome read again. */
  puts_a_step: 3,
  gets_a_step: 3,
  /** Between two looks of who follows a step (functions/aws/step-entry.ts). */
  seconds_a_look: 5,
  log_bytes_a_call: 2_400,
} as const

/** A run of the research chain that finds its answer at once: what it needs beside the block that asks. */
const RESEARCH_RUN = {
  transitions: 13,
  calls: {
    'start-run': 1,
    'nl-classify': 1,
    'route-search': 1,
    'execute-subqueries': 1,
    'assess-sufficiency': 1,
    'synthesize-answer': 1,
    settle: 1,
    'send-outbox': 2,
  },
  write_units: 38,
  /** Above those of its calls: what the graph is read for. */
  read_units: 180,
  puts: 11,
  gets: 10,
} as const
