import type { Machine } from '../compile/asl.ts'
import type { Agenda } from './agenda.ts'

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
export interface ExecutionTally {
  readonly name: string
  /** States entered. */
  transitions: number
  /** As Step Functions counts its history. */
  events: number
}

/** One line of states: an execution, a branch of a Parallel, an item of a Map. */
export interface Frame {
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

export interface JoinTally {
  readonly done: Set<string>
  waiter?: { readonly need: number; readonly frame: Frame }
}

/** A simulated run under way. */
export interface Walk {
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
