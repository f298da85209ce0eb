import { sha256 } from '../text/hash.ts'

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
