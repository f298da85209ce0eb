import type { CompiledDag } from '../compile/compile-dag.ts'
import { bounceModules } from '../dag/bounce-modules.ts'
import { isJudged } from '../dag/completion.ts'
import type { Dag } from '../dag/dag.ts'
import { compiledMachines } from './compiled-machines.ts'
import { type BudgetFacts, eventBudget } from './event-budget.ts'
import { mostItems } from './expectations.ts'
import { joinReasons } from './join-reasons.ts'
import { boundBytes, measureMachine } from './measure-machines.ts'
import type { Plan } from './plan.ts'
import type { SimulatedRun } from './simulate-machine.ts'

type PlannedMachines = Pick<
  Plan,
  | 'transitions'
  | 'events'
  | 'event_budget'
  | 'bytes'
  | 'states'
  | 'parallels'
  | 'depth'
  | 'signals'
  | 'joins'
  | 'machines'
>

/** What the machines are and what a run does in them, read from their texts. */
export function planMachines(dag: Dag, compiled: CompiledDag, { executions }: SimulatedRun): PlannedMachines {
  const texts = compiledMachines(compiled)
  const facts = factsOf(dag)
  const figures = texts.map(({ definition }) => measureMachine(definition))
  const machines = texts.map(({ name, definition, text }, i) => {
    const { transitions = 0, events = 0 } = executions.find((execution) => execution.name === name) ?? {}
    const states = figures[i]?.states ?? 0
    return { name, bytes: boundBytes(text), states, transitions, events, event_budget: eventBudget(definition, facts) }
  })
  return {
    transitions: sum(machines.map(({ transitions }) => transitions)),
    events: sum(machines.map(({ events }) => events)),
    event_budget: Math.max(...machines.map(({ event_budget }) => event_budget)),
    bytes: sum(machines.map(({ bytes }) => bytes)),
    states: sum(machines.map(({ states }) => states)),
    parallels: sum(figures.map(({ parallels }) => parallels)),
    depth: Math.max(...figures.map(({ depth }) => depth)),
    signals: sum(figures.map(({ signals }) => signals)),
    joins: joinReasons(texts),
    machines,
  }
}

function factsOf(dag: Dag): BudgetFacts {
  const { blocks } = dag
  const byId = new Map(blocks.map((block) => [block.id, block]))
  const bounces = bounceModules(blocks).map(({ rules }) => sum(rules.map(({ bounce }) => bounce.max_bounces)))
  return {
    tries: (id) => byId.get(id)?.retry.max_attempts ?? 1,
    most_items: (id) => {
      const block = byId.get(id)
      return block === undefined ? 0 : mostItems(block)
    },
    most_bounces: (module) => bounces[module] ?? 0,
    judged: isJudged(dag),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
