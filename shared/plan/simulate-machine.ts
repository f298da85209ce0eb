import type { Machine } from '../compile/asl.ts'
import { Fault } from '../errors.ts'
import { createAgenda } from './agenda.ts'
import { callFunction } from './call-function.ts'
import { EXECUTION_EVENTS, ITEM_EVENTS, stateEvents } from './history-events.ts'
import { readTask } from './read-task.ts'
import { signal } from './signal.ts'
import type { ExecutionTally, Frame, Outcomes, Walk } from './walk.ts'

/** A DAG's machine and those it was split into for size, by placeholder (`Part1`). */
export interface Machines {
  readonly main: Machine
  readonly parts: ReadonlyMap<string, Machine>
}

export interface SimulatedRun {
  /** Seconds since the start at which a block was first entered, all waits behind it. */
  readonly started: ReadonlyMap<string, number>
  /** Seconds; undefined: the machine hangs. */
  readonly makespan: number | undefined
  /** The main machine's first, then its parts' in the order they began. */
  readonly executions: readonly ExecutionTally[]
  /** Invocations by placeholder, `RunBlock`. */
  readonly calls: Readonly<Record<string, number>>
  /** Invocations of run-block or open-child that do a block's work: one each item of a foreach. */
  readonly works: number
  /** The most blocks and items that were at work at once. */
  readonly at_once: number
}

/**
 * Runs machines in virtual time from their text alone: states one after the other as `Next` says, a Parallel ends with
 * its last branch, a join wakes its waiter once all its sources have signalled. Nothing fails, nobody takes time to
 * decide, and neither states nor calls take any: only blocks do. O(states), a factor log(blocks at once).
 */
export function simulateMachine({ main, parts }: Machines, outcomes: Outcomes): SimulatedRun {
  const walk: Walk = {
    parts,
    outcomes,
    agenda: createAgenda(),
    joins: new Map(),
    bounced: new Map(),
    started: new Map(),
    executions: [],
    calls: {},
    decided: false,
    works: 0,
    running: 0,
    atOnce: 0,
    waitingForSlot: [],
    begin,
  }
  begin(walk, 'main', main, undefined)
  for (let frame = walk.agenda.take(); frame !== undefined; frame = walk.agenda.take()) leave(walk, frame)
  const { started, makespan, executions, calls, works, atOnce } = walk
  return { started, makespan, executions, calls, works, at_once: atOnce }
}

/** A new execution; `parent` is the frame that waits for its end. */
function begin(walk: Walk, name: string, machine: Machine, parent: Frame | undefined): void {
  const execution: ExecutionTally = { name, transitions: 0, events: EXECUTION_EVENTS }
  walk.executions.push(execution)
  enter(walk, frameOf(machine, execution, parent), machine.StartAt)
}

function frameOf(machine: Machine, execution: ExecutionTally, parent: Frame | undefined): Frame {
  const epoch = parent?.epoch ?? 0
  const fresh = { at: '', open: 0, unbegun: 0, items: 0, yes: false, choice: 0, holdsSlot: false }
  return { machine, execution, parent, epoch, ...fresh }
}

function enter(walk: Walk, frame: Frame, name: string): void {
  const state = stateAt(frame.machine, name)
  frame.at = name
  frame.execution.transitions += 1
  frame.execution.events += stateEvents(state)
  switch (state.Type) {
    case 'Task':
      callFunction(walk, frame, readTask(state))
      break
    case 'Parallel':
      frame.open = state.Branches.length
      for (const branch of state.Branches) enter(walk, frameOf(branch, frame.execution, frame), branch.StartAt)
      break
    case 'Map':
      enterMap(walk, frame, state.MaxConcurrency ?? 0)
      break
    case 'Wait':
      walk.agenda.put(walk.agenda.now() + (typeof state.Seconds === 'number' ? state.Seconds : 0), frame)
      break
    default:
      walk.agenda.put(walk.agenda.now(), frame)
  }
}

function stateAt({ States }: Machine, name: string) {
  const state = States[name]
  if (state !== undefined) return state
  throw new Fault('Bug', 'machine_not_followed', `Cannot follow the machine: it has no state "${name}".`)
}

/** An inline Map never runs more items at once (Step Functions quota). */
const MOST_ITEMS_AT_ONCE = 40

function enterMap(walk: Walk, frame: Frame, concurrency: number): void {
  const { items } = frame
  frame.execution.events += ITEM_EVENTS * items
  if (items === 0) walk.agenda.put(walk.agenda.now(), frame)
  const width = Math.min(concurrency || MOST_ITEMS_AT_ONCE, MOST_ITEMS_AT_ONCE, items)
  frame.open = items
  frame.unbegun = items
  for (let i = 0; i < width; i += 1) beginItem(walk, frame)
}

function beginItem(walk: Walk, frame: Frame): void {
  const state = stateAt(frame.machine, frame.at)
  if (state.Type !== 'Map' || frame.unbegun === 0) return
  frame.unbegun -= 1
  enter(walk, frameOf(state.ItemProcessor, frame.execution, frame), state.ItemProcessor.StartAt)
}

/** What the frame's state does is over: joins are signalled, the next state is entered or the frame ends. */
function leave(walk: Walk, frame: Frame): void {
  const state = stateAt(frame.machine, frame.at)
  if (state.Type === 'Task') signal(walk, frame, readTask(state))
  if (state.Type === 'Choice') enter(walk, frame, (frame.yes ? state.Choices[frame.choice]?.Next : state.Default) ?? '')
  else if ('Next' in state) enter(walk, frame, state.Next)
  else endFrame(walk, frame)
}

function endFrame(walk: Walk, { parent }: Frame): void {
  if (parent === undefined) {
    walk.makespan = walk.agenda.now()
    return
  }
  parent.open -= 1
  beginItem(walk, parent)
  if (parent.open === 0) walk.agenda.put(walk.agenda.now(), parent)
}
