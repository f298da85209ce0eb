import { canonicalJson } from '../../../shared/canonical.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Clock } from '../../../shared/world.ts'
import { abortedBy } from './aborted-by.ts'
import { endExecution } from './execution.ts'
import type { Journal, JournalledExecution } from './journal.ts'
import type { Child, ChildOrder } from './live-execution.ts'
import { type Definitions, isPart } from './loaded-definitions.ts'
import type { Live, Running } from './running.ts'
import { StateError } from './state-error.ts'

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
export function partsOf<T extends Pick<JournalledExecution, 'machine' | 'name'>>(
  all: readonly T[],
  machine: string,
  name: string,
): readonly T[] {
  return all.filter((one) => one.machine.startsWith(`${machine}/`) && one.name.startsWith(`${name}-`))
}

/** Those among unfinished executions whose whole has ended without them: a kill came between the two. */
export function orphansAmong(all: readonly JournalledExecution[]): readonly JournalledExecution[] {
  const wholes = all.filter(({ machine }) => !isPart(machine))
  const held = new Set(wholes.flatMap(({ machine, name }) => partsOf(all, machine, name)))
  return all.filter((one) => isPart(one.machine) && !held.has(one))
}

function childOf({ journal, clock }: PartsDeps, { execution, over }: Live): Child {
  const { machine, name } = execution.journalled
  return {
    over: over.then(() => journal.find(machine, name)?.end),
    stop: () => endExecution(execution, abortedBy('the execution that waited for it was stopped', clock)),
  }
}

function exists(name: string): StateError {
  return new StateError('StepFunctions.ExecutionAlreadyExistsException', `Execution Already Exists: '${name}'`)
}
