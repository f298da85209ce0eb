import type { ExecutionEnd, FramePosition, Journal, JournalledExecution } from '../../infra/local/asl/journal.ts'
import { functionError } from '../../infra/local/asl/state-error.ts'
import type { Machine } from '../../shared/compile/asl.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { Json } from '../../shared/text/json.ts'
import { REGION } from './aws-client.ts'

/** An event as GetExecutionHistory has it: one of the `..EventDetails` by its type. */
export interface ExecutionEvent {
  readonly id: number
  readonly previousEventId: number
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly type: string
  readonly [details: `${string}EventDetails`]: Readonly<Record<string, string>>
}

export interface Recorded {
  /** States entered: what Step Functions bills. Exact where the execution succeeded. */
  readonly transitions: number
  /** History events as the interpreter counts them. */
  readonly counted: number
  /** undefined: its machine has branches, which this recorder cannot tell apart. */
  readonly events: readonly ExecutionEvent[] | undefined
}

interface Recording {
  readonly execution: JournalledExecution
  readonly machine: Machine
  readonly events: ExecutionEvent[]
  transitions: number
  /** The state it is in, and how many it had entered with it. */
  state: string
  visit: number
  /** A task was scheduled and has not ended. */
  open: boolean
}

type Invoke = (functionArn: string, payload: Json, signal: AbortSignal) => Promise<Json>

/**
 * Writes histories down from what passes by: places, tokens and ends on their way into the journal, calls on their way
 * to functions. The journal itself keeps only the newest place of an execution.
 */
export function recordHistories(journal: Journal, clock: Clock, invoke: Invoke) {
  const all: Recording[] = []
  const definitions = new Map<string, string>()
  const tokens = new Map<string, Recording>()
  const ofId = (id: number) => all.find(({ execution }) => execution.id === id)
  const add = (to: Recording, type: string, details = '', of: Readonly<Record<string, string>> = {}): void => {
    const id = to.events.length + 1
    const event = { id, previousEventId: id - 1, timestamp: clock.now() / 1_000, type }
    to.events.push(details === '' ? event : { ...event, [`${details}EventDetails`]: of })
  }
  const watched: Journal = {
    ...journal,
    define(hash, definition) {
      definitions.set(`local:${hash}`, definition)
      journal.define(hash, definition)
    },
    create(draft) {
      const execution = journal.create(draft)
      const machine: Machine = JSON.parse(definitions.get(execution.machine) ?? '')
      const made: Recording = { execution, machine, events: [], transitions: 0, state: '', visit: 0, open: false }
      all.push(made)
      add(made, 'ExecutionStarted', 'executionStarted', { input: JSON.stringify(execution.input) })
      enter(add, made, machine.StartAt, execution.input)
      return execution
    },
    put(slot, place, soon) {
      const found = ofId(slot.execution.id)
      if (found !== undefined && entersState(place)) {
        found.transitions += 1
        if (slot.path === '') move(add, found, place)
      }
      journal.put(slot, place, soon)
    },
    openToken(token, slot) {
      const found = ofId(slot.execution.id)
      if (found !== undefined) tokens.set(token, found)
      journal.openToken(token, slot)
    },
    answerToken(token, answer) {
      const found = tokens.get(token)
      if (found !== undefined) {
        found.open = false
        if ('ok' in answer)
          add(found, 'TaskSucceeded', 'taskSucceeded', { ...WAITS, output: JSON.stringify(answer.ok) })
        else add(found, 'TaskFailed', 'taskFailed', { ...WAITS, error: answer.error, cause: answer.cause })
      }
      journal.answerToken(token, answer)
    },
    end(id, end, soon) {
      const found = ofId(id)
      if (found !== undefined) finish(add, found, end)
      journal.end(id, end, soon)
    },
  }
  return {
    journal: watched,
    invoke: (functionArn: string, payload: Json, signal: AbortSignal) => {
      const called = all.findLast(({ execution }) => execution.name === nameIn(payload))
      const call = invoke(functionArn, payload, signal)
      return called === undefined ? call : task(add, called, { FunctionName: functionArn, Payload: payload }, call)
    },
    /** Of an execution, and of those it was cut into for size (`NAME-1`). */
    of: (name: string): readonly Recorded[] =>
      all.flatMap((one) => {
        if (one.execution.name !== name && !one.execution.name.startsWith(`${name}-`)) return []
        const { transitions, execution, events, machine } = one
        return [{ transitions, counted: execution.events, events: hasBranches(machine) ? undefined : events }]
      }),
  }
}

type Add = (to: Recording, type: string, details?: string, of?: Readonly<Record<string, string>>) => void

const INVOKES = { resourceType: 'lambda', resource: 'invoke' } as const
const WAITS = { resourceType: 'lambda', resource: 'invoke.waitForTaskToken' } as const

/** A next state is journalled with its input alone; a line's first state is not, but each line has one end. */
function entersState(place: FramePosition): boolean {
  return 'output' in place || Object.keys(place).length === 2
}

function enter(add: Add, to: Recording, name: string, input: Json): void {
  to.state = name
  to.visit += 1
  to.open = false
  add(to, `${typeOf(to)}StateEntered`, 'stateEntered', { name, input: JSON.stringify(input) })
}

function move(add: Add, to: Recording, place: FramePosition): void {
  // A task nobody answered and nothing failed: its time was over.
  if (to.open) add(to, 'TaskTimedOut', 'taskTimedOut', { ...WAITS, error: 'States.Timeout', cause: '' })
  const output = JSON.stringify('output' in place ? place.output : place.input)
  add(to, `${typeOf(to)}StateExited`, 'stateExited', { name: to.state, output })
  if ('state' in place) enter(add, to, place.state, place.input)
}

function finish(add: Add, to: Recording, { status, error = '', cause = '', output = null }: ExecutionEnd): void {
  const word = { SUCCEEDED: 'Succeeded', FAILED: 'Failed', ABORTED: 'Aborted', TIMED_OUT: 'TimedOut' }[status]
  const of = status === 'SUCCEEDED' ? { output: JSON.stringify(output) } : { error, cause }
  add(to, `Execution${word}`, `execution${word}`, of)
}

async function task(add: Add, to: Recording, parameters: Json, call: Promise<Json>): Promise<Json> {
  const { visit } = to
  const state = to.machine.States[to.state]
  const waits = state?.Type === 'Task' && state.Resource.endsWith('.waitForTaskToken')
  const resource = waits ? WAITS : INVOKES
  add(to, 'TaskScheduled', 'taskScheduled', { ...resource, region: REGION, parameters: JSON.stringify(parameters) })
  add(to, 'TaskStarted', 'taskStarted', { ...resource })
  to.open = true
  try {
    const Payload = await call
    const output = JSON.stringify({ ExecutedVersion: '$LATEST', Payload, StatusCode: 200 })
    // What comes after the state was left is in no history.
    if (to.visit !== visit || !to.open) return Payload
    if (waits) add(to, 'TaskSubmitted', 'taskSubmitted', { ...resource, output })
    else add(to, 'TaskSucceeded', 'taskSucceeded', { ...resource, output })
    to.open = waits
    return Payload
  } catch (thrown) {
    const { error, cause_text: cause } = functionError(thrown)
    if (to.visit === visit && to.open) add(to, 'TaskFailed', 'taskFailed', { ...resource, error, cause })
    to.open = false
    throw thrown
  }
}

function typeOf({ machine, state }: Recording): string {
  return machine.States[state]?.Type ?? ''
}

/** Every payload of a machine holds the execution's input, and a run's id is its execution's name. */
function nameIn(payload: Json): string {
  return (payload as { readonly in?: { readonly run_id?: string } }).in?.run_id ?? ''
}

function hasBranches({ States }: Machine): boolean {
  return Object.values(States).some(
    (state) => state.Type === 'Parallel' || state.Type === 'Map' || /startExecution/.test(JSON.stringify(state)),
  )
}
