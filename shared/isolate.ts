import type { Json } from './canonical.ts'

/**
 * Runs one bounded computation of somebody else's program (a JSONata transform, a JSON Schema) outside the event
 * loop. Answers `ok: false` when it fails, runs over `ms` or over `mb`; it never throws for what the program did.
 */
export interface Isolate {
  run(
    kind: 'transform' | 'json_schema',
    data: { readonly program: Json; readonly input: Json },
    limit?: { readonly ms: number; readonly mb: number },
  ): Promise<Isolated>
}

export type Isolated =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly because: 'error' | 'time' | 'memory'; readonly message: string }
