import type { Json } from '../../shared/text/json.ts'

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

/** What the process of a step says. */
export type FromStep =
  | { readonly type: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly text: string }
  | { readonly type: 'progress'; readonly fraction: number; readonly note: string }
  | { readonly type: 'cost'; readonly usd: number }
  /** Keep this file as an artifact; read this object into a file. */
  | {
      readonly type: 'write'
      readonly id: number
      readonly name: string
      readonly file: string
      readonly media_type?: string
    }
  | { readonly type: 'read'; readonly id: number; readonly ref: string }
  | { readonly type: 'returned'; readonly outputs: Json }
  | {
      readonly type: 'threw'
      /** `retry`: it asks for another try; `fail`: none helps; `error`: the block's policy decides. */
      readonly kind: 'retry' | 'fail' | 'error'
      readonly code: StepFailureCode
      readonly message: string
      /** Where in the step it happened. */
      readonly stack?: string
      readonly after_ms?: number
    }
  /** What a module is, when it was only asked that. */
  | { readonly type: 'described'; readonly as: DescribedModule }

/** Why an attempt of a step did not return what it promised. */
export type StepFailureCode =
  | 'step_failed'
  | 'step_inputs'
  | 'step_config'
  | 'step_outputs'
  | 'step_answer'
  | 'step_not_started'

/** A module as it says of itself. Schemas are JSON Schema. */
export interface DescribedModule {
  readonly kind: 'step'
  readonly inputs: Json
  readonly outputs: Json
  readonly config: Json
  readonly effect: 'again' | 'once'
}
