import type { Json } from '../text/json.ts'

/**
 * What is computed: `transform` evaluates a JSONata program; `json_schema` checks a value under a schema and `compile`
 * whether schemas and patterns can be used at all (shared/gates/compile-programs.ts); `classify` fits a model of a table and
 * `describe` its statistics; `parse` reads a text as JSON; `read_rows` reads a table and `write_rows` writes one;
 * `gate` judges by the module of a project's gate and `gate_params` reads the parameters of a check by it.
 */
export type IsolateKind =
  | 'transform'
  | 'json_schema'
  | 'compile'
  | 'classify'
  | 'describe'
  | 'parse'
  | 'read_rows'
  | 'write_rows'
  | 'gate'
  | 'gate_params'

/**
 * Runs one bounded computation (a JSONata transform or a JSON Schema of somebody else's, a model of somebody's table)
 * outside the event loop. Answers `ok: false` when it fails, runs over `ms` or over `mb`; it never throws for what the program did.
 */
export interface Isolate {
  run(
    kind: IsolateKind,
    data: { readonly program: Json; readonly input: Json },
    limit?: { readonly ms: number; readonly mb: number },
    caller?: IsolateCaller,
  ): Promise<Isolated>
}

/**
 * For whom a computation is. Tenants take turns, however many one of them has waiting; when the signal aborts, what waits
 * leaves the queue, what runs is ended, and both are answered `stopped`.
 */
export interface IsolateCaller {
  readonly tenant: string
  readonly signal?: AbortSignal | undefined
}

/** The same port, for one caller. */
export function isolateFor(isolate: Isolate, caller: IsolateCaller): Isolate {
  return { run: (kind, data, limit) => isolate.run(kind, data, limit, caller) }
}

export type Isolated =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly because: 'error' | 'time' | 'memory' | 'stopped'; readonly message: string }
