import type { Durability } from '../../../shared/settings/settings.ts'
import type { Shape } from '../shapes.ts'

/** What an engine is started with, in a process of its own. */
export interface Order {
  readonly durability: Durability
  /** Its own, empty; removed when it has ended. */
  readonly folder: string
  readonly shapes: readonly Shape[]
}

/** One request of the client. `{shape}`, `{blocks}`, `{id}` and `{n}`, a number no other request has, are filled in. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** What an answer has that is right. */
  readonly must: string
}

/** How an engine is called while it is measured, and what it says of itself. */
export interface Served {
  readonly version: string
  /** How durable it is, as read back from it. */
  readonly durable: string
  /** Starts a run and answers when it has ended. */
  readonly run: Call
  /** Answers when it has started, with `id` as the key of the id; `end` answers when that run has ended. */
  readonly start?: Call & { readonly id: string }
  readonly end?: Call
  /** How many whole runs of a shape its store has, `{"runs":N}`. */
  readonly kept: Call
}

export interface Opened {
  readonly served: Served
  close(): Promise<void>
}

export type OpenEngine = (order: Order) => Promise<Opened>

/** What an engine's process tells, once. */
export type Told = { readonly served: Served } | { readonly failed: string }

/** Every engine and the classes it is measured in: equally durable within one. */
export const ENGINES: Readonly<Record<string, readonly Durability[]>> = {
  sluice: ['normal', 'full'],
  langgraph: ['normal', 'full'],
  mastra: ['normal', 'full'],
  restate: ['full'],
  dbos: ['full'],
}

/** Packages of test/bench/engines are absent on a fresh clone: no static imports, and of their types only what is used. */
export async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T
}
