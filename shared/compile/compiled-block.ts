import type { Block, Foreach, RetryPolicy } from '../dag/dag.ts'

/** What the compiler looks at of a block: ids, numbers and what decides about its states. */
export type CompiledBlock = Pick<Block, 'id' | 'upstream' | 'on_gate_fail'> & {
  /** How often a person may be asked in one attempt, and whether an item of a list may ask; absent = never. */
  readonly asks?: { readonly block: number; readonly items: boolean }

  readonly mode?: Block['mode']
  readonly approval?: { readonly timeout_sec: number }
  readonly foreach?: Pick<Foreach, 'items' | 'max_concurrency'>
  readonly retry?: Pick<RetryPolicy, 'max_attempts'>
}
