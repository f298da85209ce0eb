import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import { STEP_LIMITS } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { splitLines } from '../../shared/text/split-lines.ts'

/** What the process of a step is told, a JSON text a line on its descriptor 3. */
export type ToStep =
  | {
      readonly type: 'run'
      readonly inputs: Readonly<Record<string, Json>>
      readonly config: Json
      readonly key: string
      readonly attempt: number
      readonly feedback: readonly string[]
      readonly secrets: Readonly<Record<string, string>>
      /** A program: its command, and the folder it is started in. Without it the module of the command line runs. */
      readonly program?: StepProgram
    }
  | { readonly type: 'abort'; readonly reason: string }
  /** The answer to a `write` or `read`: the object ref, or the file the body lies in; or why not. */
  | { readonly type: 'done'; readonly id: number; readonly ok: string }
  | { readonly type: 'done'; readonly id: number; readonly error: string }

/** How a program of a project is started. */
export interface StepProgram {
  readonly exec: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Bytes of its answer. */
  readonly answer_bytes: number
  /** Where files of its inputs lie, and where artifacts it leaves are looked for. */
  readonly files: string
  readonly artifacts: string
  /** It runs a container, which speaks by files of the attempt's folder and is ended by a command of its own. */
  readonly container?: StepContainer & { readonly folder: string }
}

/** How a container is ended: it is no child of the command that started it. */
export interface StepContainer {
  readonly kill: readonly string[]
}

/** Why an attempt of a step did not return what it promised. */
const FAILURES = [
  'step_failed',
  'step_inputs',
  'step_config',
  'step_outputs',
  'step_answer',
  'step_not_started',
] as const
export type StepFailureCode = (typeof FAILURES)[number]

const text = z.string()
const id = z.number()
/** Read from JSON: it is never anything else. */
const json = z.custom<Json>((value) => value !== undefined)

/** A module as it says of itself. Schemas are JSON Schema. */
const DescribedSchema = z.object({
  kind: z.literal('step'),
  inputs: json,
  outputs: json,
  config: json,
  effect: z.enum(['again', 'once']),
  description: z.exactOptional(text.max(4_000)),
})

/** What the process of a step says. It is code of others that writes there: nothing is believed unread. */
const FromStepSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('log'), level: z.enum(['info', 'warn', 'error']), text }),
  // No JSON holds NaN: it comes as null.
  z.object({ type: z.literal('progress'), fraction: z.number().nullable(), note: text }),
  z.object({ type: z.literal('cost'), usd: z.number().nullable() }),
  /** Keep this file as an artifact; read this object into a file. */
  z.object({ type: z.literal('write'), id, name: text, file: text, media_type: z.exactOptional(text) }),
  z.object({ type: z.literal('read'), id, ref: text }),
  z.object({ type: z.literal('returned'), outputs: z.record(text, json) }),
  z.object({
    type: z.literal('threw'),
    /** `retry`: it asks for another try; `fail`: none helps; `error`: the block's policy decides. */
    kind: z.enum(['retry', 'fail', 'error']),
    code: z.enum(FAILURES),
    message: text,
    /** Where in the step it happened. */
    stack: z.exactOptional(text),
    after_ms: z.exactOptional(z.number().min(0)),
  }),
  /** What a module is, when it was only asked that. */
  z.object({ type: z.literal('described'), as: DescribedSchema }),
])
export type FromStep = z.infer<typeof FromStepSchema>

/** Characters of one line: no longer than its answer may be, with room for escapes. */
const LINE_CHARACTERS = STEP_LIMITS.answer_bytes * 2

/** What comes on its channel; Fault InvalidInput step_answer where a line is no message, or does not end. */
export async function* readMessages(pieces: AsyncIterable<string>): AsyncGenerator<FromStep> {
  for await (const line of splitLines(limited(pieces))) yield readMessage(line)
}

async function* limited(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let open = 0
  for await (const piece of pieces) {
    const end = piece.lastIndexOf('\n')
    open = end < 0 ? open + piece.length : piece.length - end
    if (open > LINE_CHARACTERS) {
      throw new Fault('InvalidInput', 'step_answer', `the step said more than ${LINE_CHARACTERS} characters at once`)
    }
    yield piece
  }
}

const SHOWN = 80

function readMessage(line: string): FromStep {
  const read = FromStepSchema.safeParse(parsed(line))
  if (read.success) return read.data
  const seen = JSON.stringify(line.slice(0, SHOWN))
  const message = `the step wrote ${seen} on descriptor 3, on which its process talks with the place. Leave that alone, and return an object with a value for each output`
  throw new Fault('InvalidInput', 'step_answer', message)
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
