import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { FramePosition, Journal } from '../../infra/local/asl/journal.ts'
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
  transitions: number
  events: number
}

/** A state that was entered, and what with. */
export interface EnteredState {
  readonly state: string
  readonly input: Json
}

/** What a machine did, and its end. */
export interface PlayedMachine {
  readonly executions: readonly CountedExecution[]
  /** Of all its executions, in the order they were entered. */
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
  return executions
}

/** The same, and which states it entered. */
export async function playMachine(compiled: CompiledDag, outcomes: GivenOutcomes): Promise<PlayedMachine> {
  const db = new DatabaseSync(':memory:')
  const counted = countingJournal(createSqliteJournal(db))
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
    journal: counted.journal,
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
  return { executions: counted.executions(), entered: counted.entered, called, status }
}

/** A call of a function, without the token it was handed. */
export function callWords(name: string, payload: Json): string {
  return `${name} ${JSON.stringify(payload, (key, value) => (key === 'token' ? 'TOKEN' : value))}`
}

const RUN = 'run_1'
/** What every run begins with. */
export const INPUT = { v: 1, tenant: 'main', run_id: RUN } as const

/** Counts what goes into a journal, and passes it on. */
function countingJournal(journal: Journal) {
  const created: { readonly id: number; readonly events: number }[] = []
  const counts = new Map<number, number>()
  const entered: EnteredState[] = []
  const counting: Journal = {
    ...journal,
    create(draft) {
      const execution = journal.create(draft)
      created.push(execution)
      return execution
    },
    put(slot, place, soon) {
      const { id } = slot.execution
      counts.set(id, (counts.get(id) ?? 0) + (entersState(place) ? 1 : 0))
      if ('state' in place && Object.keys(place).length === 2) entered.push({ state: place.state, input: place.input })
      journal.put(slot, place, soon)
    },
  }
  return {
    journal: counting,
    entered,
    executions: () => created.map(({ id, events }) => ({ transitions: counts.get(id) ?? 0, events })),
  }
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
