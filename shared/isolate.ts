import type { Json } from './canonical.ts'

/**
 * Runs one bounded computation (a JSONata transform or a JSON Schema of somebody else's, a model of somebody's table)
 * outside the event loop. Answers `ok: false` when it fails, runs over `ms` or over `mb`; it never throws for what the program did.
 */
export interface Isolate {
  run(
    kind: 'transform' | 'json_schema' | 'classify',
    data: { readonly program: Json; readonly input: Json },
    limit?: { readonly ms: number; readonly mb: number },
  ): Promise<Isolated>
}

export type Isolated =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly because: 'error' | 'time' | 'memory'; readonly message: string }
