import * as z from 'zod'
import type { PortType } from '../dag/dag.ts'

/** What a step is given (docs/steps.md, "What a step is given"). */
export interface StepCall<Inputs, Config> {
  /** Values by port, as the schema of its inputs made them. */
  readonly inputs: Inputs
  /** The block's `config`, as the schema of the step's config made it. */
  readonly config: Config
  readonly log: StepLog
  /** How far it is, 0 to 1, and what it does, in words: people see the newest. More than a few a second are left out. */
  progress(fraction: number, note?: string): void
  /** Aborts at a stop and at the time-out; two seconds later the process is killed. */
  readonly signal: AbortSignal
  /** The same for the same attempt, and for no other: for services that dedupe by it. */
  readonly key: string
  /** 1 for the first try. */
  readonly attempt: number
  /** What sent the block back, and what its last attempt was refused for, a line each. */
  readonly feedback: readonly string[]
  readonly artifacts: StepArtifacts
  /** Values of the secrets that the settings name for this step, by those names. */
  readonly secrets: Readonly<Record<string, string>>
  /** What the work cost, in dollars: budgets count it. The last call stands. */
  cost(usd: number): void
}

/** Lines of the attempt's log, beside what is written to standard output and standard error. */
export interface StepLog {
  info(text: string): void
  warn(text: string): void
  error(text: string): void
}

/** Bodies that never go through the event log. */
export interface StepArtifacts {
  /**
   * Keeps a body under a name of the run and answers its object ref, which an output of type file or artifact takes. A
   * body is text, bytes, or a stream of either.
   */
  write(name: string, body: ArtifactBody, media_type?: string): Promise<string>
  /** The body behind an object ref, from an input of type file or artifact. */
  read(ref: string): Promise<AsyncIterable<Uint8Array>>
}

/** What `artifacts.write` takes. */
export type ArtifactBody = string | Uint8Array | AsyncIterable<string | Uint8Array>

/** What a step is made of. `Inputs` and `Outputs` are objects of ports. */
export interface StepDefinition<
  Inputs extends z.ZodObject = z.ZodObject,
  Outputs extends z.ZodObject = z.ZodObject,
  Config extends z.ZodType = z.ZodType,
> {
  readonly inputs: Inputs
  readonly outputs: Outputs
  readonly config?: Config
  /** What a model is told of it where it is a tool of an agent (docs/agents.md): what it does, and when to call it. */
  readonly description?: string
  /**
   * What may happen if it runs twice. `again` (the default): nothing, an attempt that was lost is made again. `once`:
   * a person is asked first, since nobody knows how far the lost one came.
   */
  readonly effect?: 'again' | 'once'
  run(call: StepCall<z.output<Inputs>, z.output<Config>>): z.input<Outputs> | Promise<z.input<Outputs>>
}

/** A step as a module exports it. */
export interface Step<Inputs = unknown, Outputs = unknown> {
  readonly [STEP]: StepDefinition
  /** For the compiler alone, never there: what documents in TypeScript know of its ports. */
  readonly ports?: { readonly takes: Inputs; readonly gives: Outputs }
}

const STEP: unique symbol = Symbol.for('sluice.step')

/**
 * Makes a step of a function: the default export of a file that a block names as its handler
 * (`handler: ./steps/parse.ts`). The types of the block's ports come from the schemas, and what `run` is given and answers
 * is checked against them.
 */
export function defineStep<
  Inputs extends z.ZodObject,
  Outputs extends z.ZodObject,
  Config extends z.ZodType = z.ZodObject<Record<never, never>>,
>(definition: StepDefinition<Inputs, Outputs, Config>): Step<z.input<Inputs>, z.output<Outputs>> {
  const wrong = problemOf(definition)
  if (wrong !== undefined) throw new TypeError(`Cannot define the step: ${wrong}`)
  // Its own types are those of its ports; whoever runs it knows none of them.
  return { [STEP]: definition as unknown as StepDefinition }
}

function problemOf({
  inputs,
  outputs,
  run,
  description,
  effect = 'again',
}: Partial<StepDefinition>): string | undefined {
  if (!(inputs instanceof z.ZodObject)) return '"inputs" must be z.object({ .. }), a schema a port.'
  if (!(outputs instanceof z.ZodObject)) return '"outputs" must be z.object({ .. }), a schema a port.'
  if (typeof run !== 'function') return '"run" must be a function.'
  if (description !== undefined && (typeof description !== 'string' || description.length > MOST_DESCRIPTION)) {
    return `"description" must be a text of at most ${MOST_DESCRIPTION} characters.`
  }
  return effect === 'again' || effect === 'once' ? undefined : '"effect" must be "again" or "once".'
}

const MOST_DESCRIPTION = 4_000

/** The definition behind a default export; undefined = it is no step. */
export function stepOf(exported: unknown): StepDefinition | undefined {
  if (typeof exported !== 'object' || exported === null || !(STEP in exported)) return undefined
  return (exported as Step)[STEP]
}

/** The type of a port that holds an object ref: its value is a text like `objstore://..`. */
export function file(kind: Extract<PortType, 'file' | 'artifact'> = 'file'): z.ZodString {
  return z
    .string()
    .regex(/^objstore:\/\//, 'an object ref: objstore://..')
    .meta({ port: kind })
}

/** Thrown by a step: this attempt failed, and the policy of the block may try again, but not before `after`. */
export class Retry extends Error {
  override readonly name = 'Retry'
  /** Milliseconds. */
  readonly after_ms: number

  /** `after`: milliseconds, or a text like `30s`, `5m`, `1h`. */
  constructor(after: number | string, message = 'the step asks to be tried again later') {
    super(message)
    this.after_ms = typeof after === 'number' ? after : readDuration(after)
    if (!Number.isFinite(this.after_ms) || this.after_ms < 0) {
      throw new TypeError(`Cannot retry after ${JSON.stringify(after)}: allowed are milliseconds, or 30s, 5m, 1h.`)
    }
  }
}

/** Thrown by a step: the block fails, and no other try of it is made. */
export class Fail extends Error {
  override readonly name = 'Fail'
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function readDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  return Number(number) * (UNITS[unit] ?? Number.NaN)
}
