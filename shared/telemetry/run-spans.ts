import type { NewEvent } from '../runs/event.ts'
import type { Meta, RunKey } from '../runs/run-store.ts'
import type { Span } from './span.ts'
import { type AttemptPlace, attemptSpanId, runSpanId, traceIdOf } from './trace-ids.ts'

/** An attempt that is over, as the log tells of it. */
export interface EndedAttempt {
  readonly run: RunKey
  readonly place: AttemptPlace
  /** Of an item: the attempt of its block. */
  readonly of?: AttemptPlace
  /** ms since 1970. */
  readonly began: number
  readonly ended: number
  readonly state: 'completed' | 'failed' | 'retrying' | 'cancelled'
  /** Why it did not complete (docs/errors.md). */
  readonly code?: string
}

/** One span an attempt, below its run; of an item below its block's attempt. */
export function attemptSpan({ run, place, of, began, ended, state, code }: EndedAttempt): Span {
  const { run_id, tenant } = run
  const { block_id, item, attempt, epoch } = place
  return {
    trace_id: traceIdOf(run_id),
    span_id: attemptSpanId(run_id, place),
    parent_span_id: of === undefined ? runSpanId(run_id) : attemptSpanId(run_id, of),
    name: `block ${block_id}`,
    kind: 'internal',
    began,
    ended,
    attributes: {
      'sluice.run_id': run_id,
      'sluice.tenant': tenant,
      'sluice.block': block_id,
      'sluice.item': item,
      'sluice.attempt': attempt,
      'sluice.epoch': epoch,
      'sluice.state': state,
      'error.type': code,
    },
    failed: state === 'failed' || state === 'retrying',
    links: [],
  }
}

/** How a run ended. */
export type RunEnd = Extract<NewEvent, { readonly type: `run:${string}`; readonly data: { readonly code: string } }>

/** The span of the whole run. A child has a trace of its own, linked to the attempt that waits for it. */
export function runSpan(meta: Meta, end: RunEnd, ended: number): Span {
  const { run_id, tenant, dag_name, dag_hash, parent, kind, created_at } = meta
  const state = end.type.slice('run:'.length)
  const isFailed = state === 'failed'
  return {
    trace_id: traceIdOf(run_id),
    span_id: runSpanId(run_id),
    name: `invoke_workflow ${dag_name}`,
    kind: 'internal',
    began: Date.parse(created_at),
    ended,
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': dag_name,
      'sluice.run_id': run_id,
      'sluice.tenant': tenant,
      'sluice.kind': kind ?? 'dag',
      'sluice.dag_hash': dag_hash,
      'sluice.state': state,
      'sluice.code': end.data.code,
      'error.type': isFailed ? end.data.code : undefined,
      'sluice.usage.tokens': end.data.spent?.tokens,
      'sluice.usage.usd': end.data.spent === undefined ? undefined : end.data.spent.usd_micros / 1_000_000,
    },
    failed: isFailed,
    links:
      parent === undefined
        ? []
        : [{ trace_id: traceIdOf(parent.run_id), span_id: attemptSpanId(parent.run_id, parent) }],
  }
}
