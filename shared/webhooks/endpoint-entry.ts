import type { EventType } from '../runs/event.ts'
import type { Head, OutboxEntry } from '../runs/head.ts'
import type { Meta } from '../runs/run-store.ts'
import type { WebhookEndpoint } from './webhook-settings.ts'

/** How far an endpoint was told of a run: in HEAD's outbox from the run's first update until all is told. */
export type EndpointEntry = Extract<OutboxEntry, { readonly kind: 'endpoint' }>

/** What a new run owes: one entry an endpoint that wants to know of its DAG, whatever happens in it (docs/adr/0054). */
export function endpointEntries(
  endpoints: readonly WebhookEndpoint[],
  { tenant, dag_name, created_at: at }: Pick<Meta, 'tenant' | 'dag_name' | 'created_at'>,
): readonly EndpointEntry[] {
  return endpoints
    .filter((endpoint) => endpoint.tenant === tenant)
    .filter(({ dags }) => dags === undefined || dags.includes(dag_name))
    .map(({ name }) => ({ id: `endpoint-${name}`, at, kind: 'endpoint', endpoint: name, from_seq: 1 }))
}

/** Whether there may be something to tell now: events it was not told of, or the end of the run; and no pause before it. */
export function isDue(head: Pick<Head, 'state' | 'seq'>, { from_seq, due_at }: EndpointEntry, now: number): boolean {
  const isOpen = head.state !== 'running' || head.seq >= from_seq
  return isOpen && (due_at === undefined || Date.parse(due_at) <= now)
}

export function wants({ events }: Pick<WebhookEndpoint, 'events'>, type: EventType): boolean {
  return events === 'all' || events.includes(type)
}
