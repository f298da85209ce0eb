import type { DispatchAnswer, DispatchRequest, EmbedAnswer, EmbedRequest } from '../providers/provider.ts'
import type { RunKey, RunStore } from '../runs/run-store.ts'
import { sha256 } from '../text/canonical.ts'

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

/** One attempt of a block, or of one item of it. */
export interface AttemptPosition {
  readonly block_id: string
  readonly item?: number | undefined
  readonly epoch: number
  readonly attempt: number
}

/**
 * Ids follow from what they are of, so that processes which never meet write one trace: that of a run is the beginning
 * of the sha256 of its id (`printf %s RUN | sha256sum | cut -c1-32`).
 */
export function runTraceId(run_id: string): string {
  return sha256(run_id).slice(0, TRACE_DIGITS)
}

export function runSpanId(run_id: string): string {
  return sha256(`${run_id}/run`).slice(0, SPAN_DIGITS)
}

export function attemptSpanId(run_id: string, { block_id, item, epoch, attempt }: AttemptPosition): string {
  return sha256([run_id, block_id, item ?? '', epoch, attempt].join('/')).slice(0, SPAN_DIGITS)
}

const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
