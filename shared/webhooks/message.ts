import { type Erasure, RUN_ERASED } from '../runs/erasure.ts'
import type { RunEvent } from '../runs/event.ts'
import type { Meta, RunKey } from '../runs/run-store.ts'
import { redactForLog } from '../text/redact.ts'
import type { Endpoint } from './settings.ts'

/** What is sent: `id` stays the same however often, `text` is the body byte for byte. */
export interface WebhookMessage {
  readonly id: string
  readonly text: string
}

/**
 * The message about one event for one endpoint: a pure function of both, so that every delivery of it is the same
 * (docs/webhooks.md, "The message"). Refs and hashes as the event has them, never bodies.
 */
export function webhookMessage(
  { tenant, run_id, dag_name }: Pick<Meta, 'tenant' | 'run_id' | 'dag_name'>,
  { seq, type, at, block_id, item, attempt, data }: RunEvent,
  { name }: Pick<Endpoint, 'name'>,
): WebhookMessage {
  const id = `${run_id}-${seq}-${name}`
  const of = {
    ...(block_id === undefined ? {} : { block_id }),
    ...(item === undefined ? {} : { item }),
    ...(attempt === undefined ? {} : { attempt }),
  }
  const self = `/api/dag/runs/${run_id}`
  const links = { run: self, events: `${self}/replay?since=${seq - 1}` }
  return {
    id,
    text: JSON.stringify({ id, type, at, tenant, run_id, dag_name, seq, ...of, data: redactForLog(data), links }),
  }
}

/** That a run was erased: ids, a time and hashes. Its id is of no seq: the log it would be of is gone. */
export function erasureMessage(
  { tenant, run_id }: RunKey,
  { at: asked_at, erased_at: at = asked_at, children, run, proof }: Erasure,
  { name }: Pick<Endpoint, 'name'>,
): WebhookMessage {
  const id = `${run_id}-erased-${name}`
  const self = `/api/dag/runs/${run_id}`
  const links = { run: self, erasure: `${self}/erasure` }
  const data = { asked_at, children, proof }
  const { dag_name } = run ?? {}
  return { id, text: JSON.stringify({ id, type: RUN_ERASED, at, tenant, run_id, dag_name, data, links }) }
}

/** The parts of a message's id; undefined where it is none. */
export function readMessageId(
  id: string,
): { readonly run_id: string; readonly seq: number; readonly endpoint: string } | undefined {
  const [, run_id = '', seq = '', endpoint = ''] =
    /^(run_[0-9a-z]{26})-([1-9]\d{0,9})-([a-z][a-z0-9-]{0,30})$/.exec(id) ?? []
  return run_id === '' ? undefined : { run_id, seq: Number(seq), endpoint }
}

/** Work for send-webhooks, or for send-bus-events: what one endpoint is owed of one run. */
export interface WebhookWork {
  readonly run: RunKey
  readonly endpoint: string
}
