import type { Json } from '../../shared/canonical.ts'
import type { Fault } from '../../shared/errors.ts'
import type { Verdict } from '../../shared/gates/gate.ts'

/** What one attempt produced, before its post-gates: values or contract problems, and what is recorded of the call. */
export interface Produced {
  readonly values: Readonly<Record<string, Json>>
  readonly problems: readonly string[]
  /** What it made did not fit into what the run may store: nothing of it is there, but what it used is told. */
  readonly refusal?: Fault
  /** Of gates the handler itself stands behind: one that does not hold fails the attempt. */
  readonly verdicts?: readonly Verdict[]
  readonly facts: {
    readonly provider: string
    readonly model: string
    readonly params_hash: string
    readonly prompt_hash: string
    readonly tokens_in: number
    readonly tokens_out: number
    readonly usd_micros?: number
    readonly unpriced_tokens?: number
    readonly finish_reason: string
    readonly note?: string
    /** Its calls as they were answered: the object recordings are made of. */
    readonly raw_ref?: string | undefined
  }
}

/** What one attempt is dispatched with. */
export interface Dispatch {
  readonly attempt: number
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
  readonly signal: AbortSignal
}
