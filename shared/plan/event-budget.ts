import type { Machine, State } from '../compile/asl.ts'
import { EXECUTION_EVENTS, ITEM_EVENTS, stateEvents } from './history-events.ts'
import { readTask } from './read-task.ts'

/** What decides how long a history may become. */
export interface BudgetFacts {
  /** Total tries of a block. */
  readonly tries: (block: string) => number
  /** Items of a foreach at most. */
  readonly most_items: (block: string) => number
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
export function eventBudget(machine: Machine, facts: BudgetFacts): number {
  return EXECUTION_EVENTS + rowBudget(machine, facts) + (facts.judged ? judgingEvents(machine) : 0)
}

/** Once more through `_settle` and its Choice, and the state in between; parts have none of them. */
function judgingEvents({ States }: Machine): number {
  const states = ['_settle', '_end', '_decide_completion'].flatMap((name) => States[name] ?? [])
  return states.reduce((sum, state) => sum + stateEvents(state), 0)
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
  { most_bounces }: BudgetFacts,
): boolean {
  const first = row.findIndex(({ name }) => name === Choices[0]?.Next)
  if (first === -1 || close?.Type !== 'Task') return false
  const passes = 1 + most_bounces(readTask(close).module ?? 0)
  for (const step of row.slice(first)) step.events *= passes
  return true
}

function stateBudget(state: State, previous: State | undefined, facts: BudgetFacts): number {
  const events = stateEvents(state)
  if (state.Type === 'Parallel') return state.Branches.reduce((sum, branch) => sum + rowBudget(branch, facts), events)
  if (state.Type === 'Map') {
    const block = previous?.Type === 'Task' ? readTask(previous).block : undefined
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
