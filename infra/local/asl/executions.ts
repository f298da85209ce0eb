import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Clock } from '../../../shared/ports/host.ts'
import type { Execution } from '../../../shared/runs/machine.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import {
  type Child,
  type ChildOrder,
  countEvents,
  type ExecutionContext,
  endScope,
  type Frame,
  type LiveExecution,
  openScope,
} from './execution-context.ts'
import type { ExecutionEnd, FramePosition, Journal, JournalledExecution } from './journal.ts'
import { type Definitions, isPart } from './kept-machines.ts'
import { runFrame } from './run-frame.ts'
import { asStateError, StateError } from './state-error.ts'

/** An execution ready to be driven: new, or with the places the journal kept. */
function openExecution(
  engine: ExecutionContext,
  definition: Definition,
  journalled: JournalledExecution,
  resumed: Map<string, FramePosition>,
): LiveExecution {
  const { machine, name, input, started_at } = journalled
  const context = {
    Execution: { Id: `${machine}:${name}`, Input: input, Name: name, StartTime: new Date(started_at).toISOString() },
    StateMachine: { Id: machine, Name: machine },
  }
  return { engine, journalled, definition, scope: openScope().scope, context, resumed }
}

/** Runs the execution to its end; never rejects. Undefined: the engine closed first, the journal goes on with it. */
async function drive(execution: LiveExecution): Promise<ExecutionEnd | undefined> {
  const { engine, definition, journalled } = execution
  const { TimeoutSeconds } = definition
  const alarm =
    TimeoutSeconds === undefined
      ? undefined
      : engine.alarms.set(journalled.started_at + TimeoutSeconds * 1000, () => timeOut(execution))
  const reached = await endOf(execution)
  if (alarm !== undefined) engine.alarms.cancel(alarm)
  const { ending = reached } = execution
  return ending === 'left' ? undefined : ending
}

/** Ends the execution from outside: its states stop and its invocations are aborted. The first to end it decides. */
export function endExecution(execution: LiveExecution, ending: ExecutionEnd | 'left'): void {
  if (execution.scope.ended) return
  execution.ending = ending
  endScope(execution.scope)
}

function timeOut(execution: LiveExecution): void {
  const ended_at = execution.engine.clock.now()
  endExecution(execution, { status: 'TIMED_OUT', error: 'States.Timeout', cause: '', ended_at })
}

async function endOf(execution: LiveExecution): Promise<ExecutionEnd> {
  const { engine, definition, journalled } = execution
  const frame: Frame = {
    execution,
    slot: { execution: journalled, path: '', batch: 0 },
    scope: execution.scope,
    branched: false,
  }
  try {
    const output: Json = await runFrame(frame, definition, journalled.input)
    countEvents(execution, 1)
    return { status: 'SUCCEEDED', output, ended_at: engine.clock.now() }
  } catch (thrown) {
    const { error, cause_text: cause } = asStateError(thrown)
    return { status: 'FAILED', error, cause, ended_at: engine.clock.now() }
  }
}

interface Live {
  readonly execution: LiveExecution
  /** Settles when the end is committed and told; never rejects. */
  readonly over: Promise<void>
}

/** The executions this process drives. One leaves only after its end is committed, so the journal may be asked then. */
interface Running {
  launch(journalled: JournalledExecution, definition: Definition, places: Map<string, FramePosition>): Live
  has(id: number): boolean
  named(machine: string, name: string): Live | undefined
  all(): readonly Live[]
}

export function createRunningExecutions(
  engine: ExecutionContext,
  onEnd: ((name: string, execution: Execution, input: Json) => void) | undefined,
): Running {
  const byId = new Map<number, Live>()
  const byName = new Map<string, Live>()
  const follow = async (execution: LiveExecution): Promise<void> => {
    const { id, machine, name, input } = execution.journalled
    await engine.persisted()
    const end = await drive(execution)
    if (end !== undefined) {
      engine.journal.end(id, end)
      await engine.persisted()
    }
    byId.delete(id)
    byName.delete(keyOf(machine, name))
    if (byId.size === 0) engine.alarms.clear()
    if (end !== undefined && !isPart(machine)) onEnd?.(name, describeEnd(end), input)
  }
  return {
    launch(journalled, definition, places) {
      const { id, machine, name } = journalled
      for (const [token, answer] of places.size === 0 ? [] : engine.journal.tokens(id))
        engine.tokens.open(token, answer)
      const execution = openExecution(engine, definition, journalled, places)
      const live = { execution, over: follow(execution) }
      byId.set(id, live)
      byName.set(keyOf(machine, name), live)
      return live
    },
    has: (id) => byId.has(id),
    named: (machine, name) => byName.get(keyOf(machine, name)),
    all: () => [...byId.values()],
  }
}

/** What the port says of an end. */
export function describeEnd(end: ExecutionEnd): Execution {
  const { status, error, cause } = end
  return { status, ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }
}

function keyOf(machine: string, name: string): string {
  return `${machine}\n${name}`
}

/** What executions of parts are started and found with. */
export interface PartsDeps {
  readonly definitions: Definitions
  readonly running: Running
  readonly journal: Journal
  readonly clock: Clock
}

/**
 * Starts the execution of a part. One of that name with the same input that still runs is the one asked for, as Step
 * Functions has it; one that has ended is only for who started it (`before`: it waited for it when the process died).
 */
export function openPart(deps: PartsDeps, { machine, name, input }: ChildOrder, before: boolean): Child {
  const { running, journal, clock, definitions } = deps
  const live = running.named(machine, name)
  if (live !== undefined) {
    if (canonicalJson(live.execution.journalled.input) !== canonicalJson(input)) throw exists(name)
    return childOf(deps, live)
  }
  const kept = journal.find(machine, name)
  if (kept !== undefined && !before) throw exists(name)
  if (kept !== undefined) return { over: Promise.resolve(kept.end), stop: () => undefined }
  try {
    const definition = definitions.load(machine)
    const made = journal.create({ machine, name, input, started_at: clock.now(), events: 1 })
    return childOf(deps, running.launch(made, definition, new Map()))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new StateError('StepFunctions.StateMachineDoesNotExistException', error.message)
  }
}

/** Executions of parts of this one, nested ones too, that have not ended. */
export function partExecutions<T extends Pick<JournalledExecution, 'machine' | 'name'>>(
  all: readonly T[],
  machine: string,
  name: string,
): readonly T[] {
  return all.filter((one) => one.machine.startsWith(`${machine}/`) && one.name.startsWith(`${name}-`))
}

/** Those among unfinished executions whose whole has ended without them: a kill came between the two. */
export function orphanedParts(all: readonly JournalledExecution[]): readonly JournalledExecution[] {
  const wholes = all.filter(({ machine }) => !isPart(machine))
  const held = new Set(wholes.flatMap(({ machine, name }) => partExecutions(all, machine, name)))
  return all.filter((one) => isPart(one.machine) && !held.has(one))
}

function childOf({ journal, clock }: PartsDeps, { execution, over }: Live): Child {
  const { machine, name } = execution.journalled
  return {
    over: over.then(() => journal.find(machine, name)?.end),
    stop: () => endExecution(execution, abortedEnd('the execution that waited for it was stopped', clock)),
  }
}

function exists(name: string): StateError {
  return new StateError('StepFunctions.ExecutionAlreadyExistsException', `Execution Already Exists: '${name}'`)
}

/** How an execution ends that was stopped. */
export function abortedEnd(cause: string, clock: Clock): ExecutionEnd {
  return { status: 'ABORTED', cause, ended_at: clock.now() }
}
