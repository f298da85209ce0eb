import type { CompiledDag } from '../compile/compile-dag.ts'
import { bounceModules } from '../dag/bounce-modules.ts'
import { isJudged } from '../dag/completion.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { opensChild } from '../dag/opens-child.ts'
import { Fault } from '../errors.ts'
import { simulatedMachines } from './compiled-machines.ts'
import { criticalPath } from './critical-path.ts'
import { dagWidth } from './dag-width.ts'
import { type Expectations, expectedItems } from './expectations.ts'
import type { Plan } from './plan.ts'
import { type SimulatedRun, simulateMachine } from './simulate-machine.ts'

export interface PlannedTime extends Pick<Plan, 'critical_path' | 'makespan' | 'width'> {
  /** The predicted run, unlimited. */
  readonly run: SimulatedRun
  /** Sum of what all blocks and items take in run-block. */
  readonly work_seconds: number
}

/** When things happen: the critical path from the document, everything else from the machine's text in virtual time. */
export function planTime(dag: Dag, compiled: CompiledDag, expectations: Expectations): PlannedTime {
  const { blocks } = dag
  const { max_parallel } = expectations
  const indexOf = new Map(blocks.map(({ id }, index) => [id, index]))
  const upstream = blocks.map((block) => block.upstream.flatMap((id) => indexOf.get(id) ?? []))
  const path = criticalPath(
    upstream,
    blocks.map((block) => blockSeconds(block, expectations)),
  )
  if ('cycle' in path) throw new TypeError('planTime() needs a checked document, which has no cycle')
  const run = simulate(dag, compiled, expectations, 0)
  const limited = max_parallel === 0 ? run : simulate(dag, compiled, expectations, max_parallel)
  const possible = dagWidth(upstream, path.order)
  const wide = Math.max(possible, run.at_once)
  return {
    run,
    critical_path: { blocks: path.path.flatMap((index) => blocks[index]?.id ?? []), seconds: path.length },
    makespan: { seconds: spanOf(run), max_parallel, limited_seconds: spanOf(limited) },
    width: { at_once: run.at_once, possible, exceeds_max_parallel: max_parallel > 0 && wide > max_parallel },
    work_seconds: blocks.reduce((sum, block) => sum + workSeconds(block, expectations), 0),
  }
}

function simulate(dag: Dag, compiled: CompiledDag, expectations: Expectations, max_parallel: number) {
  const { blocks } = dag
  const byId = new Map(blocks.map((block) => [block.id, block]))
  const modules = bounceModules(blocks)
  return simulateMachine(simulatedMachines(compiled), {
    seconds: (id) => secondsOf(id, expectations),
    items: (id) => {
      const block = byId.get(id)
      return block === undefined ? 0 : expectedItems(block, expectations)
    },
    bounces: () => 0,
    sinks: (module) => modules.find(({ key }) => key === module)?.sinks ?? [],
    max_parallel,
    judged: isJudged(dag),
  })
}

function spanOf({ makespan }: SimulatedRun): number {
  if (makespan !== undefined) return makespan
  throw new Fault(
    'Bug',
    'machine_not_followed',
    'Cannot plan the DAG: its machine waits for ever. Please report the document.',
  )
}

function secondsOf(id: string, { durations, default_duration }: Expectations): number {
  return Object.hasOwn(durations, id) ? (durations[id] ?? 0) : default_duration
}

/** From a block's start to its end: a foreach takes as many rounds as its concurrency needs. */
function blockSeconds(block: Block, expectations: Expectations): number {
  const seconds = secondsOf(block.id, expectations)
  const { foreach } = block
  if (foreach === undefined) return seconds
  return Math.ceil(expectedItems(block, expectations) / foreach.max_concurrency) * seconds
}

/** A child run works in functions of its own. */
function workSeconds(block: Block, expectations: Expectations): number {
  if (opensChild(block.mode)) return 0
  const times = block.foreach === undefined ? 1 : expectedItems(block, expectations)
  return times * secondsOf(block.id, expectations)
}
