import type { Tokens } from './auth/tokens-port.ts'
import type { Http, Shell } from './gates/gate-ports.ts'
import type { GraphStore } from './graph/graph-store.ts'
import type { GraphWork } from './graph/graph-work.ts'
import type { Indexing } from './graph/indexing.ts'
import type { SearchIndex } from './graph/search-index.ts'
import type { Health } from './health.ts'
import type { Isolate } from './isolate.ts'
import type { Providers } from './provider.ts'
import type { Anchor, Anchors } from './runs/anchor.ts'
import type { LeasePool } from './runs/leases.ts'
import type { Machine } from './runs/machine.ts'
import type { RunKey, RunStore } from './runs/run-store.ts'
import type { Settings } from './settings.ts'
import type { Slack, SlackWork } from './slack/slack-port.ts'
import type { Telemetry } from './telemetry/telemetry-port.ts'
import type { Uploads } from './uploads.ts'
import type { Webhooks, WebhookWork } from './webhooks/webhooks-port.ts'

/** Content-addressed bodies: ref `objstore://<tenant>/<sha256>`. Suite: test/conformance/object-store-suite.ts. */
export interface ObjectStore {
  /** Writes (again: its age restarts) and answers the ref. */
  put(
    tenant: string,
    body: Uint8Array,
  ): Promise<{ readonly ref: string; readonly sha256: string; readonly bytes: number }>
  /** Verified against the hash; Fault NotFound object_missing, Bug object_corrupt. The ref's tenant must be `tenant`. */
  get(tenant: string, ref: string): Promise<Uint8Array>
  /** Whether there is such an object of this tenant; its body is not read. Fault InvalidInput bad_object_ref. */
  has(tenant: string, ref: string): Promise<boolean>
}

/** Files people hand to a tenant's runs. On AWS object refs only; locally real paths below inputs_dir, at most 10 MiB. */
export interface Inputs {
  read(tenant: string, path: string): Promise<Uint8Array>
}

/** Asks for owed effects to be performed now; failure is ignored, the sweeper repeats. */
export interface Outbox {
  nudge(run: RunKey): Promise<void>
  /** Asynchronous invoke of start-run for a run whose HEAD and META exist. */
  startRun(run: RunKey): Promise<void>
  /** Asynchronous invoke of slack-work; what could not be handed over is thrown. */
  slackWork(work: SlackWork): Promise<void>
  /** Asynchronous invoke of send-webhooks; what could not be handed over is thrown. */
  webhookWork(work: WebhookWork): Promise<void>
  /** Asynchronous invoke of index-graph; failure is ignored, its schedule repeats. */
  graphWork(work: GraphWork): Promise<void>
  /** Calls write-anchor and waits for it; what it could not put is thrown. */
  writeAnchor(anchor: Anchor): Promise<void>
}

export interface Clock {
  /** Milliseconds since 1970 UTC. */
  now(): number
  /** Resolves after ms, rejects with the signal's reason when aborted. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Ids {
  random(bytes: number): Uint8Array
  /** This process: changes with every boot; part of a lease's holder. */
  readonly boot: string
}

export interface Log {
  info(message: string, facts?: Readonly<Record<string, unknown>>): void
  error(message: string, facts?: Readonly<Record<string, unknown>>): void
  /** Facts that every later line of this invocation says too; absent outside one. */
  note?(facts: Readonly<Record<string, unknown>>): void
}

/**
 * Values that must not stand in settings or environment: read by adapters (a provider's key), never by handlers, so it
 * is a port beside the World. `secret` is an ARN of Systems Manager or Secrets Manager.
 */
export interface Secrets {
  read(ref: { readonly secret: string }): Promise<string>
}

/** Wakes SSE readers and blocked claims inside one process; on AWS it answers after the poll interval. */
export interface Waker {
  /** Resolves when the run may have changed, or after ms at the latest. */
  changed(run: RunKey, ms: number, signal?: AbortSignal): Promise<void>
  /**
   * For a claim refused as `full`: locally resolves true when an attempt of this run ended (one waiter an end, in
   * order), a lease of the pool was dropped, or after ms; where nobody can be woken (AWS) it answers false at once and the machine's Wait does the rest.
   */
  slot(of: RunKey | LeasePool, ms: number, signal?: AbortSignal): Promise<boolean>
}

/** Everything a handler may touch outside itself. A place (AWS, local) is an implementation of this. */
export interface World {
  readonly runs: RunStore
  readonly objects: ObjectStore
  readonly uploads: Uploads
  readonly graph: GraphStore
  readonly search: SearchIndex
  readonly indexing: Indexing
  readonly machine: Machine
  readonly outbox: Outbox
  readonly providers: Providers
  readonly inputs: Inputs
  readonly isolate: Isolate
  readonly http: Http
  readonly shell: Shell
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly waker: Waker
  readonly documents: Documents
  /** Absent where the settings name no workspace. */
  readonly slack?: Slack | undefined
  readonly webhooks: Webhooks
  /** Absent where the settings name no collector. */
  readonly telemetry?: Telemetry | undefined
  readonly tokens: Tokens
  /** Absent where there is no such bucket: locally, and where `audit.anchor` is `none`. */
  readonly anchors?: Anchors | undefined
  /** What of the place works now. */
  readonly health: Health
  readonly settings: Settings
}

/** Documents a run may be started from by name: dags/*.yaml of the place, and the shipped examples. */
export interface Documents {
  /** Those that are deployed, unless the package's own are asked for. */
  names(from?: 'deployed' | 'example'): readonly string[]
  /** YAML text, or undefined when there is none of that name. `example` reads the package's own. */
  read(name: string, from: 'deployed' | 'example'): Promise<string | undefined>
}
