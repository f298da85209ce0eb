import { compileDag } from '../compile/compile-dag.ts'
import type { Dag } from '../dag/dag.ts'
import type { Routing } from '../settings.ts'
import { assumptionsOf } from './assumptions.ts'
import { checkExpectations, type Expectations, expectedItems } from './expectations.ts'
import { modelCost } from './model-cost.ts'
import { plannedLimits } from './next-limit.ts'
import type { Plan } from './plan.ts'
import { planMachines } from './plan-machines.ts'
import { planTime } from './plan-time.ts'
import { runCost } from './run-cost.ts'

/**
 * Says what runs of a checked DAG will do, before one has run: its compiled machine is followed in virtual time and
 * counted, so that the figures are those of the text that runs. Prices of models are those of the place (`routing`). Deterministic. Fault InvalidInput unknown_block.
 */
export function planDag(dag: Dag, expectations: Expectations, routing: Routing = NO_PLACE): Plan {
  checkExpectations(dag, expectations)
  const compiled = compileDag(dag)
  const { run, work_seconds, ...time } = planTime(dag, compiled, expectations)
  const machines = planMachines(dag, compiled, run)
  const used = {
    bytes: Math.max(...machines.machines.map(({ bytes }) => bytes)),
    events: machines.event_budget,
    items: Math.max(0, ...dag.blocks.map((block) => expectedItems(block, expectations))),
  }
  return {
    dag: dag.name,
    blocks: dag.blocks.length,
    ...time,
    ...machines,
    over_ordered: compiled.over_ordered,
    cost: { ...runCost(dag, run, work_seconds, expectations), models: modelCost(dag, expectations, routing) },
    ...plannedLimits(dag, used),
    assumptions: assumptionsOf(dag, expectations),
  }
}

/** Without settings only `local` has a price. */
const NO_PLACE: Routing = { agents: {}, providers: {} }
