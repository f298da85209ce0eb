import type { Tokens } from './auth/token.ts'
import type { Http, Shell } from './gates/gate-ports.ts'
import type { GraphStore } from './graph/graph-store.ts'
import type { GraphWork, Indexing, SearchIndex } from './graph/search-index.ts'
import type { Health } from './ports/health.ts'
import type { Clock, Ids, Log } from './ports/host.ts'
import type { Isolate } from './ports/isolate.ts'
import type { Live } from './ports/live.ts'
import type { Modules } from './ports/modules.ts'
import type { Inputs, ObjectStore, Uploads } from './ports/objects.ts'
import type { Providers } from './providers/provider.ts'
import type { Anchor, Anchors } from './runs/anchors.ts'
import type { BulkKey } from './runs/bulk.ts'
import type { Machine } from './runs/machine.ts'
import type { LeasePool, RunKey, RunStore } from './runs/run-store.ts'
import type { WaitStore } from './runs/wait-store.ts'
import type { Services } from './services/service-keys.ts'
import type { Settings } from './settings/settings.ts'
import type { Slack, SlackWork } from './slack/slack-port.ts'
import type { SpendingLedgers } from './spending/ledger.ts'
import type { Steps } from './steps/steps-port.ts'
import type { Telemetry } from './telemetry/telemetry-port.ts'
import type { McpServers } from './tools/mcp-port.ts'
import type { Drops } from './triggers/drops.ts'
import type { HookKeys } from './triggers/hook-keys.ts'
import type { TriggerStore } from './triggers/trigger-store.ts'
import type { Buses } from './webhooks/buses.ts'
import type { WebhookWork } from './webhooks/message.ts'
import type { Webhooks } from './webhooks/signing.ts'

/** Asks for owed effects to be performed now; failure is ignored, the sweeper repeats. */
export interface Outbox {
  nudge(run: RunKey): Promise<void>
  /** Asynchronous invoke of start-run for a run whose HEAD and META exist. */
  startRun(run: RunKey): Promise<void>
  /** Asynchronous invoke of slack-work; what could not be handed over is thrown. */
  slackWork(work: SlackWork): Promise<void>
  /** Asynchronous invoke of send-webhooks; what could not be handed over is thrown. */
  webhookWork(work: WebhookWork): Promise<void>
  /** Asynchronous invoke of send-bus-events; what could not be handed over is thrown. */
  busWork(work: WebhookWork): Promise<void>
  /** Asynchronous invoke of index-graph; failure is ignored, its schedule repeats. */
  graphWork(work: GraphWork): Promise<void>
  /**
   * Asynchronous invoke of fire-triggers, with the run whose end it is told, if that is why; failure is ignored: its next look
   * finds what is owed, and the sweep tells of an end again.
   */
  fireTriggers(ended?: RunKey): Promise<void>
  /** Asynchronous invoke of keep-or-erase for a run that has a mark; failure is ignored, the sweep repeats. */
  keepOrErase(run: RunKey): Promise<void>
  /** Asynchronous invoke of run-bulk for a bulk that was started; failure is ignored, the sweep repeats. */
  runBulk(bulk: BulkKey): Promise<void>
  /** Calls write-anchor and waits for it; what it could not put is thrown. */
  writeAnchor(anchor: Anchor): Promise<void>
}

/** Wakes SSE readers and blocked claims inside one process; on AWS it answers after the poll interval. */
export interface Waker {
  /** Resolves when the run may have changed, or after ms at the latest. */
  changed(run: RunKey, ms: number, signal?: AbortSignal): Promise<void>
  /** Resolves when the run may have ended, or after ms at the latest. */
  ended(run: RunKey, ms: number, signal?: AbortSignal): Promise<void>
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
  /** What models are saying now. Absent where the settings do not ask for it. */
  readonly live?: Live | undefined
  readonly documents: Documents
  /** The code of the project: modules that documents name. */
  readonly modules: Modules
  /** Absent where the settings name no workspace. */
  readonly slack?: Slack | undefined
  readonly webhooks: Webhooks
  /** Buses of EventBridge that the settings name. */
  readonly buses: Buses
  /** Keys of services that blocks of the handler `http` ask. */
  readonly services: Services
  /** Tools of servers of the Model Context Protocol. */
  readonly mcp: McpServers
  /** Code of the project that blocks run. */
  readonly steps: Steps
  /** Absent where the settings name no collector. */
  readonly telemetry?: Telemetry | undefined
  readonly tokens: Tokens
  /** What calls of models used, by the caps of `spending`. */
  readonly spending: SpendingLedgers
  /** Events of outside, callbacks, and who waits for them. */
  readonly waits: WaitStore
  /** What triggers remember, and the starts they owe. */
  readonly triggers: TriggerStore
  /** What people drop for triggers. */
  readonly drops: Drops
  /** What senders of webhooks prove themselves with. */
  readonly hookKeys: HookKeys
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
