import { type ActingBlock, isActing } from '../agents/agent-items.ts'
import { AWS_QUOTAS } from '../aws-quotas.ts'
import type { Machine, State } from '../compile/asl.ts'
import { type CompiledDag, compileDag } from '../compile/compile-dag.ts'
import { bounceModules } from '../dag/bounce-modules.ts'
import { type Block, type Dag, isJudged, isKnownOutput, opensChild } from '../dag/dag.ts'
import { isStepPath } from '../dag/handlers.ts'
import type { Routing } from '../document/bind-agents.ts'
import { Fault } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { functionMemory, settingsOfStep } from '../steps/settings.ts'
import { compiledMachines, machinesToSimulate } from './compiled-machines.ts'
import { runCost, type StepWork } from './cost.ts'
import { criticalPath, dagWidth } from './critical-path.ts'
import { joinReasons } from './dag-graph.ts'
import { checkExpectations, type Expectations, expectedItems, expectedTurns, mostItems } from './expectations.ts'
import {
  bytesWithArns,
  countStateEvents,
  EXECUTION_EVENTS,
  ITEM_EVENTS,
  measureMachine,
  readTask,
} from './machine-size.ts'
import { modelCost } from './model-cost.ts'
import type { Plan } from './plan-schema.ts'
import { type SimulatedRun, simulateMachine } from './simulate-machine.ts'

/**
 * Says what runs of a checked DAG will do, before one has run: its compiled machine is followed in virtual time and
 * counted, so that the figures are those of the text that runs. Prices of models are those of the place (`routing`). Deterministic. Fault InvalidInput unknown_block.
 */
export function planDag(dag: Dag, expectations: Expectations, routing: Routing = NO_PLACE): Plan {
  checkExpectations(dag, expectations)
  const compiled = compileDag(dag)
  const { run, work_seconds, ...time } = planTime(dag, compiled, expectations)
  const work = { seconds: work_seconds, steps: stepWorks(dag, expectations, routing) }
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
    cost: { ...runCost(dag, run, work, expectations), models: modelCost(dag, expectations, routing) },
    ...plannedLimits(dag, used),
    assumptions: assumptionsOf(dag, expectations),
  }
}

/** Without settings only `local` has a price. */
const NO_PLACE: Routing = { agents: {}, providers: {} }

interface PlannedTime extends Pick<Plan, 'critical_path' | 'makespan' | 'width'> {
  /** The predicted run, unlimited. */
  readonly run: SimulatedRun
  /** Sum of what all blocks and items take in run-block: a step works elsewhere. */
  readonly work_seconds: number
}

/** When things happen: the critical path from the document, everything else from the machine's text in virtual time. */
function planTime(dag: Dag, compiled: CompiledDag, expectations: Expectations): PlannedTime {
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
  const rounds = new Map<string, number>()
  return simulateMachine(machinesToSimulate(compiled), {
    seconds: (id) => secondsOf(id, expectations, byId.get(id)),
    items: (id) => {
      const block = byId.get(id)
      if (!isActing(block)) return block === undefined ? 0 : expectedItems(block, expectations)
      rounds.set(id, (rounds.get(id) ?? 0) + 1)
      return (rounds.get(id) ?? 0) > expectedRounds(block) ? 0 : 1
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

/** A wait for so long takes so long; when another one ends nobody knows before. */
function secondsOf(id: string, { durations, default_duration }: Expectations, block: Block | undefined): number {
  if (Object.hasOwn(durations, id)) return durations[id] ?? 0
  return block?.mode === 'wait' && block.wait.kind === 'for' ? block.wait.sec : default_duration
}

/** From a block's start to its end: a foreach takes as many rounds as its concurrency needs. */
function blockSeconds(block: Block, expectations: Expectations): number {
  const seconds = secondsOf(block.id, expectations, block)
  const { foreach } = block
  if (isActing(block)) return expectedRounds(block) * seconds
  if (foreach === undefined) return seconds
  return Math.ceil(expectedItems(block, expectations) / foreach.max_concurrency) * seconds
}

/** Each block whose work is code of the project: its function is paid for as long as it works. */
function stepWorks({ blocks }: Dag, expectations: Expectations, { steps = {} }: Routing): readonly StepWork[] {
  return blocks.flatMap((block) => {
    if (!isStep(block)) return []
    const works = block.foreach === undefined ? 1 : expectedItems(block, expectations)
    const mb = functionMemory(settingsOfStep({ steps }, block.handler))
    return [{ works, seconds: secondsOf(block.id, expectations, block), mb }]
  })
}

function isStep(block: Block): block is Extract<Block, { mode: 'deterministic' }> {
  return block.mode === 'deterministic' && isStepPath(block.handler)
}

/** A child run, and a step, work in functions of their own; nothing works while a block waits. */
function workSeconds(block: Block, expectations: Expectations): number {
  if (isStep(block) || opensChild(block.mode) || block.mode === 'wait') return 0
  const once = isActing(block) ? expectedRounds(block) : 1
  const times = block.foreach === undefined ? once : expectedItems(block, expectations)
  return times * secondsOf(block.id, expectations, block)
}

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
function planMachines(dag: Dag, compiled: CompiledDag, { executions }: SimulatedRun): PlannedMachines {
  const texts = compiledMachines(compiled)
  const facts = factsOf(dag)
  const figures = texts.map(({ definition }) => measureMachine(definition))
  const machines = texts.map(({ name, definition, text }, i) => {
    const { transitions = 0, events = 0 } = executions.find((execution) => execution.name === name) ?? {}
    const states = figures[i]?.states ?? 0
    return {
      name,
      bytes: bytesWithArns(text),
      states,
      transitions,
      events,
      event_budget: eventBudget(definition, facts),
    }
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
    most_rounds: (id) => {
      const block = byId.get(id)
      return isActing(block) ? 2 * block.agent.acting.max_turns * block.retry.max_attempts : 0
    },
    most_bounces: (module) => bounces[module] ?? 0,
    judged: isJudged(dag),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** What decides how long a history may become. */
interface BudgetFacts {
  /** Total tries of a block. */
  readonly tries: (block: string) => number
  /** Items of a foreach at most. */
  readonly most_items: (block: string) => number
  /** Rounds of an agent that calls tools, at most: each turn is one, and its calls another. */
  readonly most_rounds: (block: string) => number
  /** Bounces of a module at most. */
  readonly most_bounces: (module: number) => number
  /** The run is judged by more than its blocks. */
  readonly judged: boolean
}

/**
 * History events of one machine's execution at most, natural retries of the infrastructure left out: every try used,
 * every bounce taken, every list as long as it may be. Read from the text, and counted
 * so: 5 a block, 7 a further try, 7 an item, 6 a token wait, 4 a Parallel, all of a module once a pass.
 */
function eventBudget(machine: Machine, facts: BudgetFacts): number {
  return EXECUTION_EVENTS + rowBudget(machine, facts) + (facts.judged ? judgingEvents(machine) : 0)
}

/** Once more through `_settle` and its Choice, and the state in between; parts have none of them. */
function judgingEvents({ States }: Machine): number {
  const states = ['_settle', '_end', '_decide_completion'].flatMap((name) => States[name] ?? [])
  return states.reduce((sum, state) => sum + countStateEvents(state), 0)
}

function rowBudget({ StartAt, States }: Machine, facts: BudgetFacts): number {
  const row: { readonly name: string; events: number }[] = []
  let previous: State | undefined
  for (let name: string | undefined = StartAt; name !== undefined; ) {
    const state: State | undefined = States[name]
    if (state === undefined) break
    row.push({ name, events: stateBudget(state, previous, facts) })
    const back = state.Type === 'Choice' ? repeatModule(row, state, previous, facts) : false
    name = nextOf(state, back)
    previous = state
  }
  return row.reduce((sum, { events }) => sum + events, 0)
}

/** A Choice that goes back was counted: then the other way; else the way of a run that completes, the longer one. */
function nextOf(state: State, back: boolean): string | undefined {
  if (state.Type === 'Choice') return back ? state.Default : state.Choices[0]?.Next
  return 'Next' in state ? state.Next : undefined
}

/** A Choice back to a state of its own row closes a bounce module: all since then may run again. */
function repeatModule(
  row: readonly { readonly name: string; events: number }[],
  { Choices }: Extract<State, { Type: 'Choice' }>,
  close: State | undefined,
  { most_bounces, most_rounds }: BudgetFacts,
): boolean {
  const first = row.findIndex(({ name }) => name === Choices[0]?.Next)
  if (first === -1 || close?.Type !== 'Task') return false
  const { module = 0, phase, block = '' } = readTask(close)
  if (phase === 'items') {
    // What is inside a Map was counted once for all rounds.
    const rounds = most_rounds(block)
    for (const step of row.slice(first))
      step.events += rounds * (step.name.startsWith('_map_') ? MAP_EVENTS : step.events)
    return true
  }
  const passes = 1 + most_bounces(module)
  for (const step of row.slice(first)) step.events *= passes
  return true
}

function stateBudget(state: State, previous: State | undefined, facts: BudgetFacts): number {
  const events = countStateEvents(state)
  if (state.Type === 'Parallel') return state.Branches.reduce((sum, branch) => sum + rowBudget(branch, facts), events)
  if (state.Type === 'Map') {
    const block = previous?.Type === 'Task' ? readTask(previous).block : agentOfMap(state.ItemProcessor.StartAt)
    const items = block === undefined ? 0 : facts.most_items(block)
    return events + items * (ITEM_EVENTS + rowBudget(state.ItemProcessor, facts))
  }
  return state.Type === 'Task' ? taskBudget(state, events, facts) : events
}

/** Each try goes through every state of its block again, and waits once before it; a list is read once. */
function taskBudget(state: Extract<State, { Type: 'Task' }>, events: number, { tries }: BudgetFacts): number {
  const { name, block, phase } = readTask(state)
  if (block === undefined || phase === 'items') return events
  const times = tries(block)
  return events * times + (name === 'RunBlock' ? WAIT_EVENTS * (times - 1) : 0)
}

const WAIT_EVENTS = 2
const MAP_EVENTS = 4

/** The Map of an agent stands behind a Choice; its items begin at `_kind_<id>`. */
function agentOfMap(start: string): string | undefined {
  return start.startsWith('_kind_') ? start.slice('_kind_'.length) : undefined
}

/** A limit a larger DAG of this kind would meet, and how far it is. */
interface PlannedLimit {
  readonly name: 'definition_bytes' | 'history_events' | 'blocks' | 'foreach_items' | 'head_bytes'
  readonly used: number
  readonly limit: number
  /** `used` of `limit`, 1 = reached. */
  readonly share: number
}

interface Used {
  /** Of the largest machine, ARNs in it. */
  readonly bytes: number
  /** Budgeted, of the machine that has most. */
  readonly events: number
  /** Of the foreach block that has most in the predicted run; 0 without one. */
  readonly items: number
}

/** The limits and, of them, the nearest: it binds next. */
function plannedLimits({ blocks }: Dag, { bytes, events, items }: Used) {
  const nearest = plannedLimit('definition_bytes', bytes, AWS_QUOTAS.machine_bytes.most)
  const limits: readonly PlannedLimit[] = [
    nearest,
    plannedLimit('history_events', events, AWS_QUOTAS.history_events.most),
    plannedLimit('blocks', blocks.length, LIMITS.blocks),
    plannedLimit('foreach_items', items, LIMITS.foreach_items),
    plannedLimit('head_bytes', HEAD_BYTES_A_LANE * (blocks.length + items), MOST_HEAD_BYTES),
  ]
  const next_limit = limits.reduce((most, one) => (one.used / one.limit > most.used / most.limit ? one : most), nearest)
  return { next_limit, limits }
}

/** An item, without room for a full tail of events and the members that do not grow. */
const MOST_HEAD_BYTES = AWS_QUOTAS.item_bytes.most - 16_384
/** Estimated: 8 bytes a lane of a block, more for one of an item. */
const HEAD_BYTES_A_LANE = 12

function plannedLimit(name: PlannedLimit['name'], used: number, most: number): PlannedLimit {
  return { name, used, limit: most, share: Number((used / most).toFixed(4)) }
}

/** What the figures rest on besides what was told, in words for people. */
function assumptionsOf({ blocks }: Dag, expectations: Expectations): readonly string[] {
  const { durations, default_duration, items } = expectations
  const untold = blocks.filter((block) => !Object.hasOwn(durations, block.id) && !isTimed(block))
  const asked = blocks.filter(({ approval }) => approval !== undefined)
  const unknown = blocks.filter(({ id, foreach }) => typeof foreach?.items === 'string' && !Object.hasOwn(items, id))
  const children = blocks.filter(({ mode }) => mode === 'dag')
  const chains = blocks.filter(({ mode }) => mode === 'research')
  return [
    'nothing fails, nothing is skipped, no bounce is taken; states and calls take no time',
    ...aboutBlocks(`${default_duration} s, as nothing else was said`, untold),
    ...aboutBlocks('people decide at once', asked),
    ...aboutBlocks(
      'an agent makes one call in each of its first two turns, and answers in the third',
      blocks.filter(isActing),
    ),
    ...aboutBlocks('the list comes from the run: one item is counted', unknown),
    ...aboutBlocks('a child run, whose own transitions and costs are not counted', children),
    ...aboutBlocks('waits, which takes its time and costs nothing meanwhile', blocks.filter(isWait)),
    ...blocks.flatMap((block) => aboutAddresses(block, blocks)),
    ...aboutBlocks('a research run that finds its answer at once; only its costs are counted', chains),
  ]
}

/** A turn, its call, and so on to the last turn. */
function expectedRounds(block: ActingBlock): number {
  return 2 * expectedTurns(block) - 1
}

function isWait({ mode }: Block): boolean {
  return mode === 'wait'
}

function isTimed(block: Block): boolean {
  return block.mode === 'wait' && block.wait.kind === 'for'
}

/** Wires that make no order. */
function aboutAddresses({ id, inputs }: Block, blocks: readonly Block[]): readonly string[] {
  return Object.values(inputs).flatMap(({ from }) => {
    const source = blocks.find((block) => block.id === from?.block)
    if (from === undefined || !isKnownOutput(source, from.output)) return []
    return [`known before anything runs, so that nobody waits for it: ${from.block}.${from.output} of ${id}`]
  })
}

function aboutBlocks(assumption: string, blocks: readonly Block[]): readonly string[] {
  if (blocks.length === 0) return []
  const ids = blocks.slice(0, 5).map(({ id }) => id)
  const more = blocks.length > 5 ? ` and ${blocks.length - 5} more` : ''
  return [`${assumption}: ${ids.join(', ')}${more}`]
}
