import { Fault } from '../../../shared/errors.ts'
import type { Clock, Ids } from '../../../shared/ports/host.ts'
import type { Execution, Machine, TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Json } from '../../../shared/text/json.ts'
import {
  type ChildOrder,
  createExecutionContext,
  type ExecutionContext,
  type MakeNativeCall,
} from './execution-context.ts'
import {
  abortedEnd,
  createRunningExecutions,
  describeEnd,
  endExecution,
  openPart,
  orphanedParts,
  type PartsDeps,
  partExecutions,
} from './executions.ts'
import type { ExecutionEnd, Journal, JournalledExecution } from './journal.ts'
import { clearDefinitions, createDefinitions, idWithParts, isPart, keepWithParts, keptBefore } from './kept-machines.ts'

interface LocalMachineDeps {
  /** Calls the function of that name as Lambda would; the signal aborts when nobody waits for the answer any more. */
  invoke(functionName: string, payload: Json, signal: AbortSignal): Promise<Json>
  /** Makes calls of AWS that states make themselves. */
  readonly native?: MakeNativeCall
  readonly clock: Clock
  readonly ids: Ids
  readonly journal: Journal
  /** Machine text with placeholders -> with function names. */
  bind(text: string): string
  /** Another name for a machine that a state starts: the id `ensure` gave it. */
  machineOf?(order: ChildOrder): string
  /** Machines that runs which have not ended name: `clear` leaves them. */
  needed?(): ReadonlySet<string>
  /** Whether a function tells nobody outside of the token it is given: that may be committed after it was called. */
  keepsToken?(functionName: string): boolean
  /** Whether a function that is called again finds what it did; the step behind it is then committed with what comes next. */
  knowsAgain?(functionName: string): boolean
  /** Whether somebody waits for a commit that comes later in this turn of the event loop: it goes before further steps. */
  commitWaits?(): boolean
  /** Ends are committed with whatever comes next, 10 ms later at most; default: at once. */
  readonly endsLater?: boolean
  /** Told of each execution that cannot be taken up since its rows are damaged, or those of a part of it. */
  onAside?(name: string, seen: string): void
  /** Told after the end is committed, of whole machines only, not of parts; must not throw. */
  onEnd?(name: string, execution: Execution, input: Json): void
}

export interface LocalMachine extends Machine {
  /**
   * Takes up every execution the journal says is unfinished and can be read; answers how many. Once, after the process
   * started. What is damaged stays as it is, `onAside` is told: it can be stopped, and goes on once it is restored.
   */
  resume(): Promise<number>
  /** Stops driving and aborts invocations, waits for them (2 s at most); the journal stays, `resume` goes on with it. */
  close(): Promise<void>
}

/** How long close() waits for invocations that were told to abort. */
const CLOSE_MS = 2_000

/** Step Functions in this process: the same machine text, durable in the place's database. Limits: definition.ts. */
export function createLocalMachine(deps: LocalMachineDeps): LocalMachine {
  const engine = createExecutionContext({
    ...deps,
    openChild: (order, before) => openPart(place, asKnown(deps, order), before),
    keepsToken: (name) => deps.keepsToken?.(name) === true,
    knowsAgain: (name) => deps.knowsAgain?.(name) === true,
  })
  const definitions = createDefinitions(deps.journal, deps.bind, deps.clock)
  const running = createRunningExecutions(engine, deps.onEnd, deps.endsLater === true)
  const place: MachineParts = { deps, engine, definitions, running, journal: deps.journal, clock: deps.clock }
  let closed = false
  const requireOpen = (): void => {
    if (closed) throw new Fault('Unavailable', 'machine_closed', 'Cannot start a run: this process is shutting down.')
  }
  const ensured: LocalMachine['ensure'] = async (definition, hash, parts = NO_PARTS) => {
    const known = keptBefore(place, definition, hash, parts)
    // Its text is in the file, or goes there with the commit of whatever names it.
    if (known !== undefined) return known
    const machine = keepWithParts(place, definition, hash, parts)
    await deps.journal.durable()
    return machine
  }
  return {
    ensure: ensured,
    // Nothing is deployed ahead: documents lie in folders.
    deployed: ensured,
    named: async (definition, hash, parts = []) => idWithParts(place, definition, hash, parts),
    async start(order) {
      requireOpen()
      return start(place, order)
    },
    describe: async (machine, name) => describe(place, machine, name),
    async clear(limits) {
      const cleared = clearDefinitions({ ...deps, definitions }, limits)
      await deps.journal.durable()
      return cleared
    },
    // A document has one machine for each of its texts, and no version.
    prune: async () => 0,
    // One process has one code: another release is another start of it.
    takeBack: async () => 'nothing',
    stop: (machine, name, cause) => stop(place, machine, name, cause),
    answer: (token, answer) => answerToken(place, token, answer),
    beat: async (token) => (engine.tokens.beat(token) ? 'taken' : 'gone'),
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

/** The same for all: parts are looked at by what they are, not by what is in them. */
const NO_PARTS: NonNullable<Parameters<LocalMachine['ensure']>[2]> = []

interface MachineParts extends PartsDeps {
  readonly deps: LocalMachineDeps
  readonly engine: ExecutionContext
}

function asKnown({ machineOf }: LocalMachineDeps, order: ChildOrder): ChildOrder {
  return machineOf === undefined ? order : { ...order, machine: machineOf(order) }
}

async function start(place: MachineParts, order: Parameters<Machine['start']>[0]): Promise<'started' | 'exists'> {
  const { machine, name, input } = order
  const { running, definitions } = place
  const { journal, clock } = place.deps
  const definition = definitions.load(machine)
  if (running.named(machine, name) !== undefined || journal.find(machine, name) !== undefined) return 'exists'
  const made = journal.create({ machine, name, input: { ...input }, started_at: clock.now(), events: 1 })
  running.launch(made, definition, new Map(), order.owed)
  if (order.owed !== true) await journal.durable()
  return 'started'
}

function describe(place: MachineParts, machine: string, name: string): Execution | undefined {
  if (place.running.named(machine, name) !== undefined) return { status: 'RUNNING' }
  const kept = place.deps.journal.find(machine, name)
  return kept && (kept.end === undefined ? { status: 'RUNNING' } : describeEnd(kept.end))
}

async function stop(place: MachineParts, machine: string, name: string, cause: string): Promise<void> {
  const { running, journal, clock } = place
  const end = abortedEnd(cause, clock)
  const live = running.named(machine, name)
  if (live !== undefined) {
    const all = running.all().map((one) => ({ ...one, ...one.execution.journalled }))
    const parts = partExecutions(all, machine, name)
    endExecution(live.execution, end)
    await Promise.all([live.over, ...parts.map((part) => part.over)])
    return
  }
  const kept = journal.find(machine, name)
  if (kept === undefined || kept.end !== undefined) return
  for (const part of partExecutions(journal.unfinished(), machine, name)) await endSleeping(place, part, end)
  await endSleeping(place, { id: kept.id, machine, name, input: kept.input }, end)
}

async function answerToken(place: MachineParts, token: string, answer: TokenAnswer): Promise<'taken' | 'gone'> {
  const { engine, running } = place
  const { journal } = place.deps
  const isInside = engine.tokens.isInside(token)
  const taken = engine.tokens.answer(token, answer)
  if (taken === false) return 'gone'
  if (taken === undefined) {
    // Perhaps one of an execution that still waits for resume(); those of running ones are all in memory.
    const kept = journal.token(token)
    if (kept === undefined || kept.answer !== undefined || running.has(kept.execution)) return 'gone'
  }
  journal.answerToken(token, answer, isInside)
  if (!isInside) await journal.durable()
  return 'taken'
}

async function resume(place: MachineParts): Promise<number> {
  const { running, definitions } = place
  const { journal, clock } = place.deps
  const unfinished = journal.unfinished()
  const orphans = orphanedParts(unfinished)
  for (const one of orphans)
    await endSleeping(place, one, abortedEnd('the execution that waited for it has ended', clock))
  const sleeping = unfinished.filter((one) => !running.has(one.id) && !orphans.includes(one))
  const { whole, aside } = sortDamaged(journal, sleeping)
  for (const [{ name }, seen] of aside) place.deps.onAside?.(name, seen)
  for (const one of whole) {
    try {
      running.launch(one, definitions.load(one.machine), journal.places(one.id))
    } catch (error) {
      // A definition this version refuses: the run must end, not haunt every start.
      const end = { status: 'FAILED', error: 'States.Runtime', cause: String(error), ended_at: clock.now() } as const
      await endSleeping(place, one, end)
    }
  }
  return whole.length
}

interface SortedOut {
  readonly whole: readonly JournalledExecution[]
  /** With why. */
  readonly aside: ReadonlyMap<JournalledExecution, string>
}

/** An execution and its parts go on together or not at all: neither could end well without the other. */
function sortDamaged(journal: Journal, all: readonly JournalledExecution[]): SortedOut {
  const aside = new Map<JournalledExecution, string>()
  for (const one of all.filter(({ machine }) => !isPart(machine))) {
    const family = [one, ...partExecutions(all, one.machine, one.name)]
    const seen = family.map((each) => damageOf(journal, each)).find((found) => found !== undefined)
    if (seen !== undefined) for (const each of family) aside.set(each, seen)
  }
  return { whole: all.filter((one) => !aside.has(one)), aside }
}

/** Why an execution cannot be taken up; a disk that does not answer is thrown, it is no damage of this one. */
function damageOf(journal: Journal, { id, damaged }: JournalledExecution): string | undefined {
  if (damaged !== undefined) return damaged
  try {
    if (journal.places(id).size > 0) journal.tokens(id)
    return undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return `a step of it cannot be read: ${error.message}`
  }
}

/** Ends an execution nobody drives. */
async function endSleeping(
  { deps }: MachineParts,
  { id, machine, name, input }: Pick<JournalledExecution, 'id' | 'machine' | 'name' | 'input'>,
  end: ExecutionEnd,
): Promise<void> {
  const { journal, onEnd } = deps
  journal.end(id, end, false)
  await journal.durable()
  if (!isPart(machine)) onEnd?.(name, describeEnd(end), input)
}
