import type { Machine } from '../compile/asl.ts'
import { Fault } from '../errors.ts'
import { type Agenda, createAgenda } from './agenda.ts'
import type { Machines } from './compiled-machines.ts'
import { countStateEvents, EXECUTION_EVENTS, ITEM_EVENTS, NATIVE, readTask, type TaskCall } from './machine-size.ts'

export interface SimulatedRun {
  /** Seconds since the start at which a block was first entered, all waits behind it. */
  readonly started: ReadonlyMap<string, number>
  /** Seconds; undefined: the machine hangs. */
  readonly makespan: number | undefined
  /** The main machine's first, then its parts' in the order they began. */
  readonly executions: readonly ExecutionTally[]
  /** Invocations by placeholder, `RunBlock`. */
  readonly calls: Readonly<Record<string, number>>
  /** Invocations of run-block, open-step, open-child or open-wait that do a block's work: one each item of a foreach. */
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
  frame.execution.events += countStateEvents(state)
  switch (state.Type) {
    case 'Task':
      actOnCall(walk, frame, readTask(state))
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

/** What a function of ours does to the machine that calls it, in a run where nothing fails. */
function actOnCall(walk: Walk, frame: Frame, call: TaskCall): void {
  const part = walk.parts.get(call.name)
  if (part !== undefined) {
    frame.open = 1
    walk.begin(walk, call.name, part, frame)
    return
  }
  // Named after its block (shared/compile/emit-block.ts).
  if (call.name === NATIVE) {
    work(walk, frame, { ...call, block: frame.at.slice('_call_'.length) })
    return
  }
  const act = ACTS[call.name]
  if (act === undefined) throw new Fault('Bug', 'machine_not_followed', `Cannot follow a call of "${call.name}".`)
  walk.calls[call.name] = (walk.calls[call.name] ?? 0) + 1
  const { block } = call
  if (block !== undefined && !walk.started.has(block)) walk.started.set(block, walk.agenda.now())
  act(walk, frame, call)
}

type Act = (walk: Walk, frame: Frame, call: TaskCall) => void

const ACTS: Readonly<Record<string, Act>> = {
  RunBlock(walk, frame, call) {
    if (call.phase === 'items') {
      frame.items = walk.outcomes.items(call.block ?? '')
      Object.assign(frame, { yes: frame.items > 0, choice: 0 })
    }
    if (call.phase === 'open') Object.assign(frame, { yes: true, choice: 0 })
    if (call.phase === undefined) work(walk, frame, call)
    else goOn(walk, frame)
  },
  OpenChild: work,
  OpenStep: work,
  OpenWait(walk, frame, { awaits, block = '' }) {
    if (!awaits) return goOn(walk, frame)
    // It takes its time and no slot.
    walk.works += 1
    walk.agenda.put(walk.agenda.now() + walk.outcomes.seconds(block), frame)
  },
  RequestApproval: goOn,
  WaitJoin(walk, frame, call) {
    const tally = joinOf(walk, frame, call, call.join ?? '')
    tally.waiter = { need: call.need ?? 0, frame }
    wakeIfDone(walk, tally)
  },
  CloseModule(walk, frame, { module = 0 }) {
    const bounced = walk.bounced.get(module) ?? 0
    frame.yes = bounced < walk.outcomes.bounces(module)
    frame.epoch = frame.yes ? bounced + 1 : 0
    walk.bounced.set(module, bounced + 1)
    goOn(walk, frame)
  },
  Settle(walk, frame) {
    frame.yes = true
    frame.choice = walk.outcomes.judged === true && !walk.decided ? 1 : 0
    goOn(walk, frame)
  },
  DecideCompletion(walk, frame) {
    walk.decided = true
    goOn(walk, frame)
  },
}

function goOn(walk: Walk, frame: Frame): void {
  walk.agenda.put(walk.agenda.now(), frame)
}

/** Takes a slot of max_parallel, or waits for one. */
function work(walk: Walk, frame: Frame, { block = '' }: TaskCall): void {
  const { agenda, outcomes, waitingForSlot } = walk
  const seconds = outcomes.seconds(block)
  walk.works += 1
  if (outcomes.max_parallel > 0 && walk.running >= outcomes.max_parallel) {
    waitingForSlot.push({ frame, seconds })
    return
  }
  walk.running += 1
  walk.atOnce = Math.max(walk.atOnce, walk.running)
  frame.holdsSlot = true
  agenda.put(agenda.now() + seconds, frame)
}

/** What ends with a Task: its slot of max_parallel is free, and the joins it names know that it is done. */
function signal(walk: Walk, frame: Frame, call: TaskCall): void {
  if (frame.holdsSlot) releaseSlot(walk, frame)
  // A module that is run again tells nobody outside yet.
  if (call.joins === undefined || (call.module !== undefined && frame.yes)) return
  for (const join of call.joins) {
    const tally = joinOf(walk, frame, call, join)
    for (const source of sourcesOf(walk, frame, call)) tally.done.add(source)
    wakeIfDone(walk, tally)
  }
}

function sourcesOf({ outcomes }: Walk, { at }: Frame, { block, module }: TaskCall): readonly string[] {
  if (module !== undefined && outcomes.sinks !== undefined) return outcomes.sinks(module)
  return [block ?? at]
}

function releaseSlot(walk: Walk, frame: Frame): void {
  const { agenda, waitingForSlot } = walk
  frame.holdsSlot = false
  const next = waitingForSlot.shift()
  if (next === undefined) walk.running -= 1
  else {
    next.frame.holdsSlot = true
    agenda.put(agenda.now() + next.seconds, next.frame)
  }
}

/** Joins inside a bounce module are kept per epoch. */
function joinOf(walk: Walk, frame: Frame, call: TaskCall, join: string): JoinTally {
  const key = call.isInModule && call.module === undefined ? `${join}~${frame.epoch}` : join
  const known = walk.joins.get(key)
  if (known !== undefined) return known
  const tally: JoinTally = { done: new Set() }
  walk.joins.set(key, tally)
  return tally
}

function wakeIfDone(walk: Walk, tally: JoinTally): void {
  const { waiter, done } = tally
  if (waiter === undefined || done.size < waiter.need) return
  delete tally.waiter
  walk.agenda.put(walk.agenda.now(), waiter.frame)
}

/** What a simulated run is told: everything the machine's text does not say. */
export interface Outcomes {
  /** Seconds of a block's work; of one item, where it is a foreach. */
  readonly seconds: (block: string) => number
  /** Items of a foreach block. */
  readonly items: (block: string) => number
  /** How often a bounce module is run again. */
  readonly bounces: (module: number) => number
  /** What the exit of a bounce module signals for, once it is left: its blocks that none of it reads. One, if not said. */
  readonly sinks?: (module: number) => readonly string[]
  /** Blocks at work at once; 0 = no limit. Waiting ones go on first come, first served. */
  readonly max_parallel: number
  /** The run is judged by more than its blocks: it is decided on before it is settled. */
  readonly judged?: boolean
}

/** One execution: the main machine's, or that of a part. */
interface ExecutionTally {
  readonly name: string
  /** States entered. */
  transitions: number
  /** As Step Functions counts its history. */
  events: number
}

/** One line of states: an execution, a branch of a Parallel, an item of a Map. */
interface Frame {
  readonly machine: Machine
  readonly execution: ExecutionTally
  readonly parent: Frame | undefined
  /** The state it is in. */
  at: string
  /** Branches, items or executions the state waits for. */
  open: number
  /** Items of its Map that have not begun. */
  unbegun: number
  /** Of the bounce module it is in. */
  epoch: number
  /** Items of the foreach whose Map comes next. */
  items: number
  /** What the last function answered that a Choice asks about: settle says completed, close-module says again. */
  yes: boolean
  /** Which of the Choices, where it does. */
  choice: number
  /** It is one of those max_parallel counts. */
  holdsSlot: boolean
}

interface JoinTally {
  readonly done: Set<string>
  waiter?: { readonly need: number; readonly frame: Frame }
}

/** A simulated run under way. */
interface Walk {
  readonly parts: ReadonlyMap<string, Machine>
  readonly outcomes: Outcomes
  /** Frames whose state ends. */
  readonly agenda: Agenda<Frame>
  readonly joins: Map<string, JoinTally>
  /** How often each bounce module was run again. */
  readonly bounced: Map<number, number>
  readonly started: Map<string, number>
  readonly executions: ExecutionTally[]
  readonly calls: Record<string, number>
  decided: boolean
  works: number
  running: number
  /** The most that ran at once. */
  atOnce: number
  readonly waitingForSlot: { readonly frame: Frame; readonly seconds: number }[]
  makespan?: number
  /** Begins an execution of a part; `parent` waits for its end. */
  begin(walk: Walk, name: string, machine: Machine, parent: Frame): void
}
