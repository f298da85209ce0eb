import type { IsolateKind } from '../../shared/ports/isolate.ts'
import type { Json } from '../../shared/text/json.ts'

/** What a child is started for: it loads one engine and does the kinds of jobs that engine has. */
export type IsolateEngine = 'transform' | 'schema' | 'data' | 'gate'

export const ENGINE_OF: Readonly<Record<IsolateKind, IsolateEngine>> = {
  transform: 'transform',
  json_schema: 'schema',
  compile: 'schema',
  classify: 'data',
  describe: 'data',
  parse: 'data',
  read_rows: 'data',
  write_rows: 'data',
  gate: 'gate',
  gate_params: 'gate',
}

/** Does one job; JSON text of its answer. */
export type Work = (job: Job) => string | Promise<string>

export interface Job {
  readonly kind: IsolateKind
  readonly program: Json
  readonly input: Json
}

/** A job as it is sent: with the time it may compute. */
export interface TimedJob extends Job {
  readonly ms: number
}

/** What a child that computed longer than its job may ends itself with. */
export const OUT_OF_TIME = 'SIGXCPU'

/** What one that took more memory than it may outside its heap ends itself with: as V8 does where the heap is full. */
export const OUT_OF_MEMORY = 'SIGABRT'

/** `text` is the JSON of the answer: made in the child, so that its size and its cost are the child's. */
export type Reply = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }
