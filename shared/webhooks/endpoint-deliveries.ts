import { RUN_ERASED } from '../runs/erasure.ts'
import type { EventType } from '../runs/event.ts'
import { earlierTime, type Head, OUTBOX_GRACE_MS, type OutboxEntry } from '../runs/head.ts'
import type { Meta, RunKey, RunStore } from '../runs/run-store.ts'
import type { Bus, Endpoint, WebhookEndpoint } from './settings.ts'

/** How far an endpoint was told of a run: in HEAD's outbox from the run's first update until all is told. */
export type EndpointEntry = Extract<OutboxEntry, { readonly kind: 'endpoint' }>

/** Whoever is told of events, in the order in which they are told. */
export function toldEndpoints({
  webhooks,
  buses,
}: {
  readonly webhooks: readonly WebhookEndpoint[]
  readonly buses: readonly Bus[]
}): readonly Endpoint[] {
  return [...webhooks, ...buses]
}

/** What a new run owes: one entry an endpoint that wants to know of its DAG, whatever happens in it (docs/adr/0054). */
export function endpointEntries(
  endpoints: readonly Endpoint[],
  { tenant, dag_name, created_at: at }: Pick<Meta, 'tenant' | 'dag_name' | 'created_at'>,
): readonly EndpointEntry[] {
  return endpoints
    .filter((endpoint) => endpoint.tenant === tenant)
    .filter(({ dags }) => dags === undefined || dags.includes(dag_name))
    .map(({ name }) => ({ id: `endpoint-${name}`, at, kind: 'endpoint', endpoint: name, from_seq: 1 }))
}

/** Whether there may be something to tell now: events it was not told of, or the end of the run; and no pause before it. */
export function isEndpointDue(
  head: Pick<Head, 'state' | 'seq'>,
  { from_seq, due_at }: EndpointEntry,
  now: number,
): boolean {
  const isOpen = head.state !== 'running' || head.seq >= from_seq
  return isOpen && (due_at === undefined || Date.parse(due_at) <= now)
}

export function wantsEvent({ events }: Pick<Endpoint, 'events'>, type: EventType | typeof RUN_ERASED): boolean {
  return events === 'all' || events.includes(type)
}

/** Who is to be told that a run of this document was erased. */
export function toldOfErasure(
  endpoints: readonly Endpoint[],
  { tenant, dag_name }: { readonly tenant: string; readonly dag_name: string | undefined },
): readonly string[] {
  return endpoints
    .filter((endpoint) => endpoint.tenant === tenant && wantsEvent(endpoint, RUN_ERASED))
    .filter(({ dags }) => dags === undefined || (dag_name !== undefined && dags.includes(dag_name)))
    .map(({ name }) => name)
}

/**
 * The entry once everything up to `seq` is told, passed over or dead; undefined at the end of the run. `failing_since` stays
 * where the endpoint did not take the last of it.
 */
export function nextEndpointEntry(
  head: Pick<Head, 'state' | 'seq'>,
  { id, at, endpoint }: EndpointEntry,
  seq: number,
  failing_since?: string,
): EndpointEntry | undefined {
  // Nothing comes after the end of a run.
  if (head.state !== 'running' && seq >= head.seq) return undefined
  const failing = failing_since === undefined ? {} : { failing_since }
  return { id, at, kind: 'endpoint', endpoint, from_seq: seq + 1, ...failing }
}

/** How the last try went, and until when there may be another. Times in milliseconds since 1970. */
interface FailedTry {
  /** Failed tries of this message in a row, from 1. */
  readonly tries: number
  readonly now: number
  readonly expires: number
  /** What the endpoint asked for by 429 or 503. */
  readonly retry_after_ms?: number | undefined
  /** In [0, 1). */
  readonly dice: number
}

const FIRST_MS = 10_000
const FACTOR = 3
const LONGEST_MS = 14_400_000

/**
 * When a message is tried again: 10 s, 30 s, 90 s, .. up to 4 hours later, each less a random part of up to a half, so
 * that many runs do not come back at once; no sooner than the endpoint asked for; the last time when it expires.
 */
export function retryAt({ tries, now, expires, retry_after_ms = 0, dice }: FailedTry): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (tries - 1))
  const wait = Math.max(longest * (1 - dice / 2), retry_after_ms)
  return Math.min(Math.round(now + wait), expires)
}

/** Until when a message is tried: so long after its event, or after the first failure since the endpoint took one last. */
export function giveUpAt(at: string, failing_since: string, give_up_sec: number): number {
  return Math.max(Date.parse(at), Date.parse(failing_since)) + give_up_sec * 1_000
}

/**
 * The run store of a place with webhooks: an append of an event that an endpoint wants asks for the run to be looked at
 * within a minute, in its own update, and nudges. What is owed stands in HEAD without that: it only makes it prompt.
 */
export function runsWithWebhookNudges(
  runs: RunStore,
  endpoints: readonly Endpoint[],
  nudge: (run: RunKey) => Promise<void>,
): RunStore {
  if (endpoints.length === 0) return runs
  return {
    ...runs,
    async append(append) {
      const own = endpoints.filter(({ tenant }) => tenant === append.run.tenant)
      const isWanted = append.events.some(({ type }) => own.some((endpoint) => wantsEvent(endpoint, type)))
      if (!isWanted) return runs.append(append)
      const soon = new Date(Date.parse(append.at) + OUTBOX_GRACE_MS).toISOString()
      const done = await runs.append({ ...append, check_at: earlierTime(append.check_at, soon) })
      // Who owes something else besides nudges by itself.
      if (done.ok && (append.outbox ?? []).length === 0) await nudge(append.run)
      return done
    },
  }
}
