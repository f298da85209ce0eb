import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { createIsolate } from '../../functions/isolate/run-isolate.ts'
import { createProviders } from '../../functions/providers/registry.ts'
import type { Provider } from '../../shared/provider.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import { nudgingRuns } from '../../shared/webhooks/nudging-runs.ts'
import type { Clock, Ids, Log, Outbox, World } from '../../shared/world.ts'
import { createDocuments } from './documents.ts'
import { openInputs } from './folder-inputs.ts'
import { createGateFunctions } from './gate-functions.ts'
import { providerPlace } from './provider-place.ts'
import { PACKAGE_DAGS } from './settings.ts'
import { openStores } from './stores.ts'
import { createWebhooks } from './webhooks.ts'

/** What the World is made of besides the folders its settings name. */
interface Parts {
  readonly settings: Settings
  readonly db: DatabaseSync
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly outbox: Outbox
  /** Calls a function of the catalog. */
  readonly invoke: (name: string, payload: unknown) => Promise<unknown>
  /** Further adapters by name; they win over configured ones. */
  readonly providers: Readonly<Record<string, Provider>>
  /** Keys of configured ones and of Slack, by the name of their environment variable. */
  readonly keys: ReadonlyMap<string, string>
  readonly telemetry?: Telemetry | undefined
}

/** The ports of the local place, but for the machine, which calls back into the host, and Slack (engine.ts ties them). */
export function createPorts(parts: Parts): {
  readonly ports: Omit<World, 'machine' | 'slack' | 'health'>
  close(): Promise<void>
} {
  const { settings, db, clock, ids, log, outbox, telemetry } = parts
  const { close: closeStores, ...stores } = openStores({ folder: settings.data_dir, db, clock })
  const configured = createProviders(settings, providerPlace(parts.keys, stores.objects))
  const names = [...new Set([...configured.names(), ...Object.keys(parts.providers)])]
  const isolate = createIsolate()
  const ports = {
    ...stores,
    outbox,
    providers: { get: (name: string) => parts.providers[name] ?? configured.get(name), names: () => names },
    inputs: openInputs(settings.inputs_dir, settings.tenants),
    isolate,
    ...createGateFunctions(parts.invoke),
    runs: nudgingRuns(telemetry?.watch(stores.runs) ?? stores.runs, settings.webhooks, outbox.nudge),
    telemetry,
    webhooks: createWebhooks(settings, parts.keys),
    clock,
    ids,
    log,
    documents: createDocuments(settings.dags, PACKAGE_DAGS),
    settings,
  }
  const close = async () => {
    await isolate.close()
    closeStores()
  }
  return { ports, close }
}

/** Random bytes, and the name of this boot: part of every lease's holder, so that a restart need not wait. */
export function createIds(): Ids {
  const boot = randomBytes(8).toString('hex')
  let pool = Buffer.alloc(0)
  const random = (bytes: number): Uint8Array => {
    // One call to the system's generator for many small asks: each costs as much as a thousand bytes.
    if (pool.length < bytes) pool = randomBytes(Math.max(bytes, RANDOM_POOL))
    const taken = pool.subarray(0, bytes)
    pool = pool.subarray(bytes)
    return taken
  }
  return { random, boot }
}

const RANDOM_POOL = 4_096
