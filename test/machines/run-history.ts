import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionEnd, FramePosition, Journal, JournalledExecution } from '../../infra/local/asl/journal.ts'
import { createLocalMachine, type LocalMachine } from '../../infra/local/asl/local-machine.ts'
import { createSqliteJournal } from '../../infra/local/asl/sqlite-journal.ts'
import type { CompiledDag } from '../../shared/compile/compile-dag.ts'
import type { Json } from '../../shared/text/json.ts'

/** What the functions of a run answer. */
export interface GivenOutcomes {
  readonly items: (block: string) => number
  readonly bounces: number
}

/** What one execution did, as the interpreter counted it. */
export interface CountedExecution {
  readonly transitions: number
  readonly events: number
}

/** A state that was entered, and what with. */
export interface EnteredState {
  readonly state: string
  readonly input: Json
}

/** What a machine did, and its end. */
export interface PlayedMachine {
  readonly executions: readonly CountedExecution[]
  /** Of all its executions, line by line; the first of a branch or item with no input, which no journal has. */
  readonly entered: readonly EnteredState[]
  /** What its functions were asked. */
  readonly called: readonly string[]
  readonly status: string
}

/** What a compiled machine hands to its functions. */
export interface Payload {
  readonly block: string
  readonly phase?: string
  readonly joins?: readonly string[]
  readonly join: string
  readonly need: number
  readonly token: string
  readonly module: number
  readonly e?: number
}

/**
 * Runs a compiled DAG in the interpreter to its end, with functions that answer as given and keep joins in memory.
 * Answers what each execution did: history events as the interpreter counts them, states entered as its journal saw.
 */
export async function runHistory(compiled: CompiledDag, outcomes: GivenOutcomes): Promise<readonly CountedExecution[]> {
  const { executions, status } = await playMachine(compiled, outcomes)
  if (status !== 'SUCCEEDED') throw new Error(`the execution ended as ${status}`)
  return executions.map(({ transitions, events }) => ({ transitions, events }))
}

/** The same, and which states it entered. */
export async function playMachine(compiled: CompiledDag, outcomes: GivenOutcomes): Promise<PlayedMachine> {
  const db = new DatabaseSync(':memory:')
  const recorded = recordJournal(createSqliteJournal(db))
  const machines: Record<string, string> = {}
  const functions = givenFunctions((token) => machine.answer(token, { ok: {} }), outcomes)
  const called: string[] = []
  const ended = Promise.withResolvers<string>()
  const machine: LocalMachine = createLocalMachine({
    invoke: async (name, payload) => {
      called.push(callWords(name, payload))
      return functions[name]?.(payload as unknown as Payload) ?? null
    },
    clock: { now: () => Date.now(), delay: (ms, signal) => delay(ms, undefined, signal && { signal }) },
    ids: { random: (bytes) => randomBytes(bytes), boot: 'boot' },
    journal: recorded.journal,
    bind: (text) => text.replaceAll(/\$\{(\w+)\}/g, (_match, name: string) => machines[name] ?? name),
    onEnd: (name, { status }) => {
      if (name === RUN) ended.resolve(status)
    },
  })
  for (const { key, text } of compiled.parts) machines[key] = await machine.ensure(text, key)
  await machine.start({ machine: await machine.ensure(compiled.text, 'main'), name: RUN, input: INPUT })
  const status = await ended.promise
  await machine.close()
  db.close()
  const executions = recorded.executions()
  const entered = executions.flatMap(({ lines }) => lines.flatMap((line) => line.entered))
  return { executions, entered, called, status }
}

/** A call of a function, as every interpreter makes it. */
export function callWords(name: string, payload: Json): string {
  return `${name} ${jsonWords(payload)}`
}

/** JSON without what each interpreter names by itself: the token it hands out, and the execution a part belongs to. */
export function jsonWords(value: Json): string {
  return JSON.stringify(value, (key, one) => OWN[key] ?? one)
}

const OWN: Readonly<Record<string, string>> = {
  token: 'TOKEN',
  AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID: 'EXECUTION',
}

const RUN = 'run_1'
/** What every run begins with. */
export const INPUT = { v: 1, tenant: 'main', run_id: RUN } as const

/** A line of states: an execution's own, a branch or an item. */
export interface Line {
  /** The state whose branch or item it is; '' of an execution. */
  readonly of: string
  readonly entered: readonly EnteredState[]
}

/** What an execution did, as it was written down. */
interface RecordedExecution extends CountedExecution {
  readonly name: string
  readonly lines: readonly Line[]
  readonly end: ExecutionEnd | undefined
}

interface Recording {
  readonly execution: JournalledExecution
  readonly machine: Definition
  readonly lines: OpenLine[]
  transitions: number
  end?: ExecutionEnd
}

interface OpenLine extends Line {
  readonly path: string
  readonly states: Definition
  readonly entered: EnteredState[]
  isOver?: true
}

/** As far as lines need it: where they begin. */
interface Definition {
  readonly StartAt: string
  readonly States: Readonly<
    Record<string, { readonly Branches?: readonly Definition[]; readonly ItemProcessor?: Definition }>
  >
}

/** Writes down what goes into a journal, and passes it on. */
export function recordJournal(journal: Journal) {
  const all: Recording[] = []
  const texts = new Map<string, string>()
  const ofId = (id: number) => all.find(({ execution }) => execution.id === id)
  const recorded: Journal = {
    ...journal,
    define(hash, definition) {
      texts.set(`local:${hash}`, definition)
      journal.define(hash, definition)
    },
    create(draft) {
      const execution = journal.create(draft)
      const machine: Definition = JSON.parse(texts.get(execution.machine) ?? '')
      const entered = [{ state: machine.StartAt, input: execution.input }]
      all.push({ execution, machine, lines: [{ of: '', path: '', states: machine, entered }], transitions: 0 })
      return execution
    },
    put(slot, place, soon) {
      const found = ofId(slot.execution.id)
      if (found !== undefined && entersState(place)) {
        found.transitions += 1
        const line = lineAt(found, slot.path)
        if ('state' in place) line.entered.push({ state: place.state, input: place.input })
        else line.isOver = true
      }
      journal.put(slot, place, soon)
    },
    end(id, end, soon) {
      const found = ofId(id)
      if (found !== undefined) found.end = end
      journal.end(id, end, soon)
    },
  }
  return {
    journal: recorded,
    executions: (): readonly RecordedExecution[] =>
      all.map(({ execution: { name, events }, transitions, lines, end }) => ({
        name,
        events,
        transitions,
        lines,
        end,
      })),
  }
}

/** A line is known with its second state, its end or one of its own branches: what its first was given is in no journal. */
function lineAt(recording: Recording, path: string): OpenLine {
  const known = recording.lines.findLast((line) => line.path === path && line.isOver !== true)
  if (known !== undefined) return known
  const cut = path.lastIndexOf('/')
  const parent = lineAt(recording, path.slice(0, cut))
  const of = parent.entered.at(-1)?.state ?? ''
  const { Branches, ItemProcessor } = parent.states.States[of] ?? {}
  const states = Branches?.[Number(path.slice(cut + 1))] ?? ItemProcessor
  if (states === undefined) throw new Error(`the state "${of}" has no line ${path}`)
  const line = { of, path, states, entered: [{ state: states.StartAt, input: null }] }
  recording.lines.push(line)
  return line
}

/** A next state is journalled with its input alone; a line's first state is not, but each line has one end. */
function entersState(place: FramePosition): boolean {
  return 'output' in place || Object.keys(place).length === 2
}

/** The functions of one run. */
export function givenFunctions(answer: (token: string) => Promise<unknown>, { items, bounces }: GivenOutcomes) {
  const done = new Map<string, Set<string>>()
  const waiting = new Map<string, { readonly need: number; readonly token: string }>()
  let bounced = 0
  const keyOf = (join: string, e = 0) => (e === 0 ? join : `${join}~${e}`)
  const wake = (key: string): void => {
    const waiter = waiting.get(key)
    if (waiter !== undefined && (done.get(key)?.size ?? 0) >= waiter.need) void answer(waiter.token)
  }
  const signal = (join: string, source: string): void => {
    done.set(join, (done.get(join) ?? new Set()).add(source))
    wake(join)
  }
  const functions: Readonly<Record<string, (payload: Payload) => Json>> = {
    RunBlock({ block, phase, joins = [], e }) {
      if (phase === 'items') return Array.from({ length: items(block) }, (_, i) => i)
      for (const join of joins) signal(keyOf(join, e), block)
      return e === undefined ? { block } : { block, e }
    },
    WaitJoin({ join, need, token, e }) {
      const key = keyOf(join, e)
      waiting.set(key, { need, token })
      wake(key)
      return null
    },
    OpenChild({ token }) {
      void answer(token)
      return null
    },
    OpenWait({ token }) {
      void answer(token)
      return null
    },
    RequestApproval({ token }) {
      void answer(token)
      return null
    },
    CloseModule({ module, joins = [] }) {
      bounced += 1
      if (bounced <= bounces) return { again: true, e: bounced }
      for (const join of joins) signal(join, `_close_${module}`)
      return { again: false }
    },
    Settle: () => ({ end: 'completed' }),
  }
  return functions
}
