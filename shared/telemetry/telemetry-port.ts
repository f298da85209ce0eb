import type { DispatchAnswer, DispatchRequest, EmbedAnswer, EmbedRequest } from '../providers/provider.ts'
import type { RunKey, RunStore } from '../runs/run-store.ts'
import type { AttemptPosition } from './span-ids.ts'

/** Where a call of a provider belongs. */
export interface CallOrigin {
  readonly run: RunKey
  /** Whose call it is; absent = of a stage of the research chain. */
  readonly block_id?: string
  readonly stage?: string
  /** Absent before the attempt was claimed (its pre-gates), and in stages: the call hangs below the run then. */
  readonly attempt?: AttemptPosition
}

export type Asked =
  | { readonly operation: 'chat'; readonly request: DispatchRequest; readonly answer?: DispatchAnswer }
  | { readonly operation: 'embeddings'; readonly request: EmbedRequest; readonly answer?: EmbedAnswer }

/** One call of a provider, when it is over. Without an answer it failed: `error` says how. */
export interface TracedCall {
  readonly at: CallOrigin
  /** Its name in sluice.yaml. */
  readonly provider: string
  readonly asked: Asked
  readonly error?: unknown
  /** ms since 1970. */
  readonly began: number
  readonly ended: number
}

/**
 * Where spans go (docs/observability.md). It never throws and nobody waits for it but who flushes: what a collector
 * does is nothing to a run.
 */
export interface Telemetry {
  called(call: TracedCall): void
  /** The same store, whose appends also tell of the attempts and runs they end. */
  watch(runs: RunStore): RunStore
  /** Sends what waits, for at most `ms`. */
  flush(ms: number): Promise<void>
}
