import type { Json } from '../../../shared/canonical.ts'
import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import type { Execution } from '../../../shared/runs/machine.ts'
import { drive, openExecution } from './execution.ts'
import type { ExecutionEnd, FramePlace, JournalledExecution } from './journal.ts'
import type { Engine, LiveExecution } from './live-execution.ts'
import { isPart } from './loaded-definitions.ts'

export interface Live {
  readonly execution: LiveExecution
  /** Settles when the end is committed and told; never rejects. */
  readonly over: Promise<void>
}

/** The executions this process drives. One leaves only after its end is committed, so the journal may be asked then. */
export interface Running {
  launch(journalled: JournalledExecution, definition: Definition, places: Map<string, FramePlace>): Live
  has(id: number): boolean
  named(machine: string, name: string): Live | undefined
  all(): readonly Live[]
}

export function createRunning(
  engine: Engine,
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
    if (end !== undefined && !isPart(machine)) onEnd?.(name, executionOf(end), input)
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
export function executionOf(end: ExecutionEnd): Execution {
  const { status, error, cause } = end
  return { status, ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }
}

function keyOf(machine: string, name: string): string {
  return `${machine}\n${name}`
}
