import type { Machine, State, TaskState } from '../compile/asl.ts'
import { bindPlaceholders } from '../compile/bind-placeholders.ts'

/** What a machine's text is made of. */
interface MachineFigures {
  /** States of all kinds, waits for a retry among them. */
  readonly states: number
  readonly joins: number
  readonly parallels: number
  /** Block and join pairs: how often a block that has ended tells a join. */
  readonly signals: number
  /** The deepest nesting of Parallels. */
  readonly depth: number
}

/** Counts by walking the text, branches and items included. */
export function measureMachine(machine: Machine): MachineFigures {
  const figures = { states: 0, joins: 0, parallels: 0, signals: 0, depth: 0 }
  measureRow(machine, 0, figures)
  return figures
}

/** Recursion is as deep as Parallels nest. */
function measureRow({ States }: Machine, depth: number, figures: { -readonly [K in keyof MachineFigures]: number }) {
  figures.depth = Math.max(figures.depth, depth)
  for (const state of Object.values(States)) {
    const call = taskCallOf(state)
    figures.states += 1
    figures.joins += call?.join === undefined ? 0 : 1
    figures.signals += call?.joins?.length ?? 0
    if (state.Type === 'Map') measureRow(state.ItemProcessor, depth, figures)
    if (state.Type !== 'Parallel') continue
    figures.parallels += 1
    for (const branch of state.Branches) measureRow(branch, depth + 1, figures)
  }
}

/** Bytes of a machine's text with ARNs of a usual length in the place of its placeholders. */
export function bytesWithArns(text: string): number {
  return new TextEncoder().encode(bindPlaceholders(text, arnsIn(text))).length
}

/** us-east-1, stage dev: another region or stage is some characters longer, once a state. */
function arnsIn(text: string): Readonly<Record<string, string>> {
  const names = new Set(Array.from(text.matchAll(/\$\{([^}]*)\}/g), ([, name = '']) => name))
  return Object.fromEntries([...names].map((name) => [name, /^Part\d+$/.test(name) ? PART_ARN : arnOf(name)]))
}

const ACCOUNT = 'us-east-1:123456789012'
const PART_ARN = `arn:aws:states:${ACCOUNT}:stateMachine:sluice-dev-x-0123456789abcdef0123-p1`

/** `RunBlock` -> `run-block`. */
function arnOf(placeholder: string): string {
  const name = placeholder.replace(/(?!^)[A-Z]/g, '-$&').toLowerCase()
  return `arn:aws:lambda:${ACCOUNT}:function:sluice-dev-${name}`
}

/** What a Task of ours asks for, read from its Arguments alone. */
export interface TaskCall {
  /** Placeholder of the function, `RunBlock`, or of the machine of a part, `Part1`. */
  readonly name: string
  readonly block?: string
  readonly joins?: readonly string[]
  readonly join?: string
  readonly need?: number
  readonly module?: number
  readonly phase?: string
  /** The state goes on when somebody answers its token. */
  readonly awaits: boolean
  /** It stands in an item of a foreach. */
  readonly isItem: boolean
  /** It stands in a bounce module: joins are kept per epoch. */
  readonly isInModule: boolean
}

export function readTask({ Arguments }: TaskState): TaskCall {
  // What AWS does itself: an expression, from which nothing is read.
  if (typeof Arguments === 'string') return { name: NATIVE, awaits: false, isItem: false, isInModule: false }
  const { FunctionName, StateMachineArn, Payload = {} } = (Arguments ?? {}) as WrittenArguments
  const { block, joins, join, need, module, phase } = Payload
  return {
    name: (FunctionName ?? StateMachineArn ?? '').slice(2, -1),
    ...(block !== undefined && { block }),
    ...(joins !== undefined && { joins }),
    ...(join !== undefined && { join }),
    ...(need !== undefined && { need }),
    ...(module !== undefined && { module }),
    ...(phase !== undefined && { phase }),
    awaits: 'token' in Payload,
    isItem: 'item' in Payload,
    isInModule: 'e' in Payload,
  }
}

/** The name of a call that is none of ours. */
export const NATIVE = 'Native'

/** The Arguments the compiler writes (shared/compile/emit-block.ts). */
interface WrittenArguments {
  readonly FunctionName?: string
  readonly StateMachineArn?: string
  readonly Payload?: {
    readonly block?: string
    readonly joins?: readonly string[]
    readonly join?: string
    readonly need?: number
    readonly module?: number
    readonly phase?: string
  }
}

/** The call of a state, if it is a Task. */
export function taskCallOf(state: State): TaskCall | undefined {
  return state.Type === 'Task' ? readTask(state) : undefined
}

const INVOKED = ['TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskSucceeded', 'TaskStateExited']
/** A token and a child execution are submitted first, and succeed when they are answered or have ended. */
const AWAITED = [...INVOKED, 'TaskSubmitted']

/** What Step Functions writes into the history of an execution (API reference, HistoryEvent), by what writes it. */
const HISTORY = {
  execution: ['ExecutionStarted', 'ExecutionSucceeded'],
  invoked: INVOKED,
  awaited: AWAITED,
  Choice: ['ChoiceStateEntered', 'ChoiceStateExited'],
  Wait: ['WaitStateEntered', 'WaitStateExited'],
  Pass: ['PassStateEntered', 'PassStateExited'],
  Succeed: ['SucceedStateEntered', 'SucceedStateExited'],
  Fail: ['FailStateEntered'],
  Parallel: ['ParallelStateEntered', 'ParallelStateStarted', 'ParallelStateSucceeded', 'ParallelStateExited'],
  Map: ['MapStateEntered', 'MapStateStarted', 'MapStateSucceeded', 'MapStateExited'],
  item: ['MapIterationStarted', 'MapIterationSucceeded'],
} as const

/** Of an execution besides those of its states. */
export const EXECUTION_EVENTS = HISTORY.execution.length
/** Of each item of a Map besides those of its states. */
export const ITEM_EVENTS = HISTORY.item.length

/** History events of a state that is entered once, calls what it calls once and goes on. */
export function countStateEvents(state: State): number {
  if (state.Type !== 'Task') return HISTORY[state.Type].length
  return state.Resource === 'arn:aws:states:::lambda:invoke' ? HISTORY.invoked.length : HISTORY.awaited.length
}
