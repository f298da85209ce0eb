import type { RunEvent } from '../runs/event.ts'
import type { WebhookMessage } from './message.ts'

/** What a bus is given of one event: the message is its `detail`, byte for byte the same however often. */
export interface BusEvent {
  readonly type: RunEvent['type'] | 'webhook:test' | 'run:erased'
  /** When it happened. */
  readonly at: string
  readonly message: WebhookMessage
}

/** Puts events on the buses of the settings. */
export interface Buses {
  /** By its name in the settings. Faults Unavailable bus_refused; those of the place. */
  put(name: string, event: BusEvent): Promise<void>
}

/** The `source` of events: a rule of the bus tells two stages apart by it, and the role of a stage may say no other. */
export function eventSource(stage: string): string {
  return `sluice.${stage}`
}
