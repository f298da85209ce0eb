import type { Json } from '../../../shared/canonical.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Execution, Machine, TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Clock, Ids } from '../../../shared/world.ts'
import { createEngine } from './engine.ts'
import { endExecution } from './execution.ts'
import type { ExecutionEnd, Journal } from './journal.ts'
import type { Engine } from './live-execution.ts'
import { createDefinitions, type Definitions } from './loaded-definitions.ts'
import { createRunning, executionOf, type Running } from './running.ts'

export interface LocalMachineDeps {
  /** Calls the function of that name as Lambda would; the signal aborts when nobody waits for the answer any more. */
  invoke(functionName: string, payload: Json, signal: AbortSignal): Promise<Json>
  readonly clock: Clock
  readonly ids: Ids
  readonly journal: Journal
  /** Machine text with placeholders -> with function names. */
  bind(text: string): string
  /** Told after the end is committed; must not throw. */
  onEnd?(name: string, execution: Execution): void
}

export interface LocalMachine extends Machine {
  /** Takes up every execution the journal says is unfinished; answers how many. Once, after the process started. */
  resume(): Promise<number>
  /** Stops driving and aborts invocations, waits for them (2 s at most); the journal stays, `resume` goes on with it. */
  close(): Promise<void>
}

/** How long close() waits for invocations that were told to abort. */
const CLOSE_MS = 2_000

/** Step Functions in this process: the same machine text, durable in the place's database. Limits: definition.ts. */
export function createLocalMachine(deps: LocalMachineDeps): LocalMachine {
  const engine = createEngine(deps)
  const definitions = createDefinitions(deps.journal, deps.bind)
  const running = createRunning(engine, deps.onEnd)
  const place: Place = { deps, engine, definitions, running }
  let closed = false
  const requireOpen = (): void => {
    if (closed) throw new Fault('Unavailable', 'machine_closed', 'Cannot start a run: this process is shutting down.')
  }
  return {
    async ensure(definition, hash) {
      definitions.keep(definition, hash)
      await deps.journal.durable()
      return definitions.idOf(hash)
    },
    async start(order) {
      requireOpen()
      return start(place, order)
    },
    describe: async (machine, name) => describe(place, machine, name),
    stop: (machine, name, cause) => stop(place, machine, name, cause),
    answer: (token, answer) => answerToken(place, token, answer),
    holderGone: (holder) => !holder.startsWith(`${deps.ids.boot}/`),
    async resume() {
      requireOpen()
      return resume(place)
    },
    async close() {
      if (closed) return
      closed = true
      const left = running.all()
      for (const { execution } of left) endExecution(execution, 'left')
      await engine.close(CLOSE_MS)
      await Promise.all(left.map((one) => one.over))
      await deps.journal.durable()
    },
  }
}

interface Place {
  readonly deps: LocalMachineDeps
  readonly engine: Engine
  readonly definitions: Definitions
  readonly running: Running
}

async function start(place: Place, order: Parameters<Machine['start']>[0]): Promise<'started' | 'exists'> {
  const { machine, name, input } = order
  const { running, definitions } = place
  const { journal, clock } = place.deps
  const definition = definitions.load(machine)
  if (running.named(machine, name) !== undefined || journal.find(machine, name) !== undefined) return 'exists'
  const made = journal.create({ machine, name, input: { ...input }, started_at: clock.now(), events: 1 })
  running.launch(made, definition, new Map())
  await journal.durable()
  return 'started'
}

function describe(place: Place, machine: string, name: string): Execution | undefined {
  if (place.running.named(machine, name) !== undefined) return { status: 'RUNNING' }
  const kept = place.deps.journal.find(machine, name)
  return kept && (kept.end === undefined ? { status: 'RUNNING' } : executionOf(kept.end))
}

async function stop(place: Place, machine: string, name: string, cause: string): Promise<void> {
  const end: ExecutionEnd = { status: 'ABORTED', cause, ended_at: place.deps.clock.now() }
  const live = place.running.named(machine, name)
  if (live !== undefined) {
    endExecution(live.execution, end)
    return live.over
  }
  const kept = place.deps.journal.find(machine, name)
  if (kept !== undefined && kept.end === undefined) await endSleeping(place, kept.id, name, end)
}

async function answerToken(place: Place, token: string, answer: TokenAnswer): Promise<'taken' | 'gone'> {
  const { engine, running } = place
  const { journal } = place.deps
  const taken = engine.tokens.answer(token, answer)
  if (taken === false) return 'gone'
  if (taken === undefined) {
    // Perhaps one of an execution that still waits for resume(); those of running ones are all in memory.
    const kept = journal.token(token)
    if (kept === undefined || kept.answer !== undefined || running.has(kept.execution)) return 'gone'
  }
  journal.answerToken(token, answer)
  await journal.durable()
  return 'taken'
}

async function resume(place: Place): Promise<number> {
  const { running, definitions } = place
  const { journal, clock } = place.deps
  const sleeping = journal.unfinished().filter((one) => !running.has(one.id))
  for (const one of sleeping) {
    try {
      running.launch(one, definitions.load(one.machine), journal.places(one.id))
    } catch (error) {
      // A definition this version refuses: the run must end, not haunt every start.
      const end = { status: 'FAILED', error: 'States.Runtime', cause: String(error), ended_at: clock.now() } as const
      await endSleeping(place, one.id, one.name, end)
    }
  }
  return sleeping.length
}

/** Ends an execution nobody drives. */
async function endSleeping(place: Place, id: number, name: string, end: ExecutionEnd): Promise<void> {
  const { journal, onEnd } = place.deps
  journal.end(id, end)
  await journal.durable()
  onEnd?.(name, executionOf(end))
}
