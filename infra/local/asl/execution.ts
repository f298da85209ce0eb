import type { Json } from '../../../shared/canonical.ts'
import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import { runFrame } from './frame.ts'
import type { ExecutionEnd, FramePlace, JournalledExecution } from './journal.ts'
import { countEvents, type Engine, type Frame, type LiveExecution } from './live-execution.ts'
import { endScope, openScope } from './scope.ts'
import { asStateError } from './state-error.ts'

/** An execution ready to be driven: new, or with the places the journal kept. */
export function openExecution(
  engine: Engine,
  definition: Definition,
  journalled: JournalledExecution,
  resumed: Map<string, FramePlace>,
): LiveExecution {
  const { machine, name, input, started_at } = journalled
  const context = {
    Execution: { Id: `${machine}:${name}`, Input: input, Name: name, StartTime: new Date(started_at).toISOString() },
    StateMachine: { Id: machine, Name: machine },
  }
  return { engine, journalled, definition, scope: openScope().scope, context, resumed }
}

/** Runs the execution to its end; never rejects. Undefined: the engine closed first, the journal goes on with it. */
export async function drive(execution: LiveExecution): Promise<ExecutionEnd | undefined> {
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
